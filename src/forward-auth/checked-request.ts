import type { Refusal } from '../errors.ts';
import type { CheckRequest } from './check-protocol.ts';
import { problemOfMethod, undescribed } from './question.ts';
import { utf8Bytes } from './utf8-bytes.ts';

/** A request described by Envoy, in the form of a received head. */
export interface CheckedRequest {
  readonly method: string;
  readonly target: string;
  /** Names and values in turn, including `Host`; bytes as latin1. */
  readonly fields: readonly string[];
  /** Address of Envoy's client; empty if unknown. */
  readonly source: string;
  /** The host that the request is for; empty if unknown. */
  readonly host: string;
  /** Refusal of a request that can't be judged; null otherwise. */
  readonly unfit: Refusal | null;
}

/** Headers with credentials: where repeated fields are joined, a comma may be the only trace of the second one. */
const credentials: ReadonlySet<string> = new Set(['authorization', 'x-api-key']);

/** A field name or the name of a pseudo-header (RFC 9110 §5.1, RFC 9113 §8.3). */
const fieldName = /^:?[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Characters that no field value can have (RFC 9110 §5.5): written into a head, they could begin another field. */
const unfitForValue = /[\r\n\0]/;

/**
 * Reads a check request, with the headers of `header_map`, or of `headers` if `header_map` is empty. In `headers`, repeated ones
 * are joined, so a credential with a comma counts as two. The request is unfit if its pseudo-headers contradict its method or
 * path, or if it has fields that HTTP doesn't allow, which are left out; if `readsHost`, also without a host, or if its authority
 * is another one.
 */
export function readChecked(question: CheckRequest, readsHost = false): CheckedRequest {
  const { request, source: peer } = question.attributes ?? {};
  const source = peer?.address?.socket_address?.address ?? '';
  const http = request?.http;
  if (http === undefined || http === null)
    return { method: '', target: '', fields: [], source, host: '', unfit: undescribed() };
  const { method, path, host } = http;
  const fields: string[] = [];
  const pseudo = new Map<string, string[]>();
  let isReadable = true;
  for (const [name, value] of pairsOf(http)) {
    if (!fieldName.test(name) || unfitForValue.test(value)) isReadable = false;
    else if (!name.startsWith(':')) fields.push(name, value);
    else pseudo.set(name, [...(pseudo.get(name) ?? []), value]);
  }
  for (const each of pseudo.get(':authority') ?? (host === '' ? [] : [host])) fields.push('Host', each);
  const agrees = (name: string, value: string) =>
    pseudo.get(name)?.join() === (pseudo.has(name) ? value : undefined);
  const namesHost = !readsHost || (host !== '' && agrees(':authority', host));
  const isClear =
    isReadable && namesHost && path !== '' && agrees(':method', method) && agrees(':path', path);
  const unfit = isClear ? problemOfMethod(method) : undescribed();
  // An unfit request has no method: log and spans would repeat whatever a peer wrote there.
  return { method: unfit === null ? method : '', target: path, fields, source, host, unfit };
}

type Http = NonNullable<NonNullable<NonNullable<CheckRequest['attributes']>['request']>['http']>;

function pairsOf({ header_map: map, headers }: Http): [name: string, value: string][] {
  const listed = map?.headers ?? [];
  if (listed.length > 0)
    return listed.map(({ key, value, raw_value: raw }) => [
      key,
      raw.length > 0
        ? Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('latin1')
        : utf8Bytes(value),
    ]);
  return Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    const values = credentials.has(name.toLowerCase()) ? value.split(',') : [value];
    return values.map((each) => [name, utf8Bytes(each)]);
  });
}
