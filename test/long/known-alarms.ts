import type { KnownAlarm } from '../support/corpora/alarms.ts';

/** Of test/long/fuzz-requests. */
export const knownRequestAlarms: readonly KnownAlarm[] = [
  {
    kind: 'a strict reader refuses the end of it',
    detail:
      /(?:Content-Length.*"HPE_INVALID_CONTENT_LENGTH"|Transfer-Encoding.*"HPE_INVALID_TRANSFER_ENCODING")\]$/i,
    reason:
      'A trailer by the name of Content-Length or Transfer-Encoding: llhttp refuses it, Postern reads and drops trailers whatever their names. The request and its body are read alike, and no trailer reaches the upstream.',
  },
  ...['a strict reader reads otherwise', 'a strict reader refuses the end of it'].map((kind) => ({
    kind,
    detail: /Transfer-Encoding:(?:\\t| )*chunked *\\t.*"HPE_INVALID_TRANSFER_ENCODING"\]$/i,
    reason:
      'A tab behind the value of Transfer-Encoding: blanks around a value are no part of it (RFC 9110 §5.5), tabs too; llhttp takes spaces alone there. The upstream is sent the header anew, without any.',
  })),
];

/** Of test/long/fuzz-responses. */
export const knownResponseAlarms: readonly KnownAlarm[] = [
  {
    kind: 'a strict reader reads otherwise',
    detail: /Transfer-Encoding: *chunked.*\\r\\n\\r\\n.*\\r\\nContent-Length.*"HPE_INVALID_CONTENT_LENGTH"$/i,
    reason:
      'A trailer by the name of Content-Length: llhttp refuses it. Postern drops trailers that frame; the body ends where the chunks say.',
  },
  {
    kind: 'a strict reader reads otherwise',
    detail: /HTTP\/1\.(?:0 1\d\d|1 1\d\d.*\\r\\nConnection: close).*"HPE_CLOSED_CONNECTION"$/i,
    reason:
      'An interim response that says close, or is of HTTP/1.0: llhttp takes the connection to end with it. An interim response ends nothing (RFC 9110 §15.2), and what follows answers the same request.',
  },
  {
    kind: 'a strict reader reads otherwise',
    detail: /Transfer-Encoding:(?:\\t| )*chunked *\\t/i,
    reason:
      'A tab behind the value of Transfer-Encoding: blanks around a value are no part of it (RFC 9110 §5.5); llhttp takes spaces alone there, and reads another coding.',
  },
];
