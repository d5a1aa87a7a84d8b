import type { IncomingMessage } from 'node:http';
import { Refusal } from '../errors.ts';
import type { TargetLimits } from '../http1/target-limits.ts';

/** Whether a head is over the limit, a long target in it not counted; blanks that Node cut off don't count either. */
export function isHeadTooLong(
  { method = '', url = '', rawHeaders }: IncomingMessage,
  { headerBytes, targets }: { readonly headerBytes: number; readonly targets: TargetLimits },
): boolean {
  const requestLine = `${method} ${url} HTTP/1.1`;
  let length = requestLine.length;
  for (const text of rawHeaders) length += text.length + 2;
  return (
    length > headerBytes && length - targets.uncounted(Buffer.from(requestLine, 'latin1'), 0) > headerBytes
  );
}

/** What `clientError` brings. */
export interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** The refusal that an error of Node's parser comes to; null when the connection itself failed. */
export function refusalOf(error: ParserError): Refusal | null {
  const { code = '', message } = error;
  const options = { close: true, cause: message };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('request_timeout', options);
  if (code === 'HPE_HEADER_OVERFLOW') return new Refusal('headers_too_large', options);
  if (
    code === 'HPE_INVALID_METHOD' &&
    /^[!#$%&'*+.^_`|~\dA-Za-z-]+ [!-~]+ HTTP\/1\.[01]\r\n/.test(lineOf(error))
  )
    return new Refusal('not_implemented', options);
  if (code === 'HPE_INVALID_VERSION' && /^[A-Z-]+ [!-~]+ HTTP\/\d\.\d\r\n/.test(lineOf(error)))
    return new Refusal('version_not_supported', options);
  return code.startsWith('HPE_') && code !== 'HPE_INVALID_EOF_STATE'
    ? new Refusal('bad_request', options)
    : null;
}

/** The line that the parser stopped in; cut short where it began in an earlier packet. */
function lineOf({ rawPacket = Buffer.alloc(0), bytesParsed = 0 }: ParserError): string {
  const start = bytesParsed === 0 ? 0 : rawPacket.lastIndexOf('\n', bytesParsed - 1) + 1;
  return rawPacket.toString('latin1', start, start + 512);
}
