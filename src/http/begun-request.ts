import type { RefusedRequest } from './refused-request.ts';
import { readRequestHead } from './request-head.ts';
import { queryStart } from './request-target.ts';

/** Method and target of a request line, the target up to where it broke off; at least its path is complete. */
const requestLine = /^(?:\r\n)?([A-Z]+) (\/[!-~]*)([ \r]?)/;
const fieldName = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * What is known of a request whose head is malformed, too long or never came to its end: enough to tell who reads the refusal. Null
 * where not even its path was read. `id` is that of its refusal.
 */
export function readBegunRequest(received: Buffer, id: string): RefusedRequest | null {
  const text = received.toString('latin1');
  const [line, method, target, after] = requestLine.exec(text) ?? [];
  if (line === undefined || method === undefined || target === undefined) return null;
  const pathEnd = queryStart(target);
  if (after === '' && pathEnd === target.length) return null;
  // The last line may have broken off anywhere; after an empty one comes no head.
  const [, ...lines] = text.slice(line.length).split('\r\n').slice(0, -1);
  const end = lines.indexOf('');
  const fields = end < 0 ? lines : lines.slice(0, end);
  return {
    id,
    method,
    target,
    path: target.slice(0, pathEnd),
    query: target.slice(pathEnd + 1),
    address: '',
    route: '',
    isOnBrowserRoute: false,
    head: readRequestHead(fields.flatMap(nameAndValue)),
  };
}

/** Nothing for a malformed line. */
function nameAndValue(line: string): readonly string[] {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(0, colon));
  return fieldName.test(name) ? [name, line.slice(colon + 1).trim()] : [];
}
