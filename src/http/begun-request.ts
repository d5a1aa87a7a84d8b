import type { RefusedRequest } from './exchange.ts';
import { readRequestHead } from './request-head.ts';
import { queryStart } from './request-target.ts';

/** Matches the method and target of a request line, which may break off within the target. */
const requestLine = /^(?:\r\n)?([A-Z]+) (\/[!-~]*)([ \r]?)/;
const fieldName = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Reads the known parts of a request whose head is malformed, too long or incomplete: enough to tell whether a person will read
 * the refusal. Null if the path is incomplete. `id` is the request id that the refusal states.
 */
export function readBegunRequest(received: Buffer, id: string): RefusedRequest | null {
  const text = received.toString('latin1');
  const [line, method, target, after] = requestLine.exec(text) ?? [];
  if (line === undefined || method === undefined || target === undefined) return null;
  const pathEnd = queryStart(target);
  if (after === '' && pathEnd === target.length) return null;
  // The last line may have broken off anywhere; an empty line ends the head.
  const [, ...lines] = text.slice(line.length).split('\r\n').slice(0, -1);
  const end = lines.indexOf('');
  const fields = end < 0 ? lines : lines.slice(0, end);
  const head = readRequestHead(fields.flatMap(nameAndValue));
  return {
    id,
    method,
    target,
    path: target.slice(0, pathEnd),
    query: target.slice(pathEnd + 1),
    address: '',
    fromTrustedProxy: false,
    describedHost: null,
    host: head.host,
    namedHost: null,
    route: '',
    isOnBrowserRoute: false,
    leavesCors: false,
    challenge: 'bearer',
    passesAuthorization: false,
    passesApiKey: false,
    otherName: null,
    head,
  };
}

/** Name and value of a header line; empty for a malformed line. */
function nameAndValue(line: string): readonly string[] {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(0, colon));
  return fieldName.test(name) ? [name, line.slice(colon + 1).trim()] : [];
}
