import type { KnownAlarm } from '../support/corpora/alarms.ts';

const tabBehindCoding =
  'A tab behind the value of Transfer-Encoding: blanks around a value are no part of it (RFC 9110 §5.5), tabs too; llhttp takes spaces alone there, and reads another coding. The header is sent on anew, without any.';

/** What we accept and another parser refuses or reads differently, and why that is harmless. */
export const leniencies: readonly KnownAlarm[] = [
  {
    kind: 'llhttp refuses the body',
    detail:
      /HPE_INVALID_(?:CONTENT_LENGTH after ".*Content-Length|TRANSFER_ENCODING after ".*Transfer-Encoding):[^\\]*"$/i,
    reason:
      'A trailer by the name of Content-Length or Transfer-Encoding, after a head that both took: such trailers frame nothing (RFC 9110 §6.5.1), and are dropped on the way.',
  },
  {
    kind: 'h11 refuses the body',
    detail:
      /(?:bad Content-Length|conflicting Content-Length headers|multiple Transfer-Encoding headers|Only Transfer-Encoding: chunked is supported)$/,
    reason: 'The same trailers.',
  },
  {
    kind: 'h11 refuses',
    detail: /^request .*no request line received$/,
    reason:
      'An empty line before a request, which a server should skip (RFC 9112 §2.2): one, by CRLF, as llhttp does. None is sent on.',
  },
  {
    kind: 'llhttp refuses',
    detail: /^response .*HPE_CLOSED_CONNECTION after /,
    reason:
      'An interim response that says close, or is of HTTP/1.0: llhttp takes the connection to end with it. An interim response ends nothing (RFC 9110 §15.2), and what follows answers the same request.',
  },
  {
    kind: 'llhttp refuses the body',
    detail:
      /^request .*Transfer-Encoding:(?:\\t| )*chunked *\\t.*HPE_INVALID_TRANSFER_ENCODING after ".*\\r\\n\\r\\n"$/i,
    reason: tabBehindCoding,
  },
  ...['llhttp reads another body', 'llhttp ends the message later'].map((kind) => ({
    kind,
    detail: /^response .*Transfer-Encoding:(?:\\t| )*chunked *\\t/i,
    reason: tabBehindCoding,
  })),
  {
    kind: 'llhttp refuses',
    detail:
      /^request .*HPE_CLOSED_CONNECTION after ".*\\r\\n0+(?:;.*)?\\r\\n(?:.*\\r\\n)?Connection:[^\\]*close[^\\]*\\r\\n/i,
    reason:
      'A trailer by the name of Connection: llhttp closes on it as if it stood in the head. Trailers say nothing of the connection (RFC 9110 §6.5.1), and none is sent on.',
  },
];
