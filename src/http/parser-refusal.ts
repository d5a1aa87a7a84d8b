import { Refusal } from '../errors.ts';

/** What Node tells of a connection on which something went wrong. */
export interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** Whether the client sent something that is answered; all else is a connection that broke. */
export function isUnreadable({ code = '' }: ParserError): boolean {
  return code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** The refusal for a request that the parser below us gave up on; the connection always closes. */
export function parserRefusal(error: ParserError): Refusal {
  const line = requestLineAt(error);
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal('request_timeout', { close: true });
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal('headers_too_large', { close: true });
    case 'HPE_INVALID_METHOD':
    // A method of RTSP, which the parser knows too, on a request of HTTP.
    case 'HPE_INVALID_CONSTANT':
      return new Refusal(isUnknownMethod(line) ? 'not_implemented' : 'bad_request', { close: true });
    case 'HPE_PAUSED_H2_UPGRADE':
      return new Refusal('version_not_supported', { close: true });
    case 'HPE_INVALID_VERSION':
      return new Refusal(isOtherVersion(line) ? 'version_not_supported' : 'bad_request', { close: true });
    default:
      return new Refusal('bad_request', { close: true });
  }
}

/** The request line in which the parser stopped; the packet may hold good requests before it. */
function requestLineAt({ rawPacket, bytesParsed }: ParserError): string {
  if (rawPacket === undefined) return '';
  const at = Math.min(bytesParsed ?? 0, rawPacket.length);
  const start = at === 0 ? 0 : rawPacket.lastIndexOf('\n', at - 1) + 1;
  const end = rawPacket.indexOf('\n', start);
  return rawPacket.toString('latin1', start, end < 0 ? rawPacket.length : end).replace(/\r$/, '');
}

/** A well-formed method that this server does not know (RFC 9110 §9.1): 501 and not 400. */
function isUnknownMethod(line: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ \S+ HTTP\/\d\.\d$/.test(line);
}

/** A well-formed version other than 1.0 and 1.1 (RFC 9110 §2.5). */
function isOtherVersion(line: string): boolean {
  const match = /^\S+ \S+ HTTP\/(\d\.\d)$/.exec(line);
  return match !== null && match[1] !== '1.0' && match[1] !== '1.1';
}
