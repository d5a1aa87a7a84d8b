import { Refusal } from '../errors.ts';
import type { RequestHeadText } from '../http1/message/message-head.ts';
import { knownMethods } from '../http1/message/node-http.ts';
import type { DescribingHeaders, Mode } from './modes.ts';

/** Method and target of a request that a proxy asks about. */
export interface DescribedRequest {
  readonly method: string;
  readonly target: string;
}

/** Envoy puts it before the target of the request it asks about. */
const envoyPrefix = '/check';
const slash = 0x2f;

/** Letters, digits and what separates them in names, addresses and ports: nothing that could end an authority elsewhere. */
const urlStart = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[A-Za-z0-9.\-_:[\]]+(?=\/)/;

/**
 * Reads which request a question is about, from where the mode says and nowhere else.
 *
 * Throws `bad_request` unless each part is there exactly once; `not_implemented` for an unknown method; `not_found` for a
 * path that is not the one to ask at.
 */
export function readDescribed({ described }: Mode, question: RequestHeadText): DescribedRequest {
  return described === null ? afterPrefix(question) : inHeaders(described, question.fields);
}

function afterPrefix({ method, target }: RequestHeadText): DescribedRequest {
  if (!target.startsWith(envoyPrefix) || target.charCodeAt(envoyPrefix.length) !== slash)
    throw new Refusal('not_found');
  return { method, target: target.slice(envoyPrefix.length) };
}

function inHeaders(names: DescribingHeaders, fields: readonly string[]): DescribedRequest {
  const method = onlyValue(fields, names.method);
  const target = onlyValue(fields, names.target);
  if (!knownMethods.has(method)) throw isToken(method) ? new Refusal('not_implemented') : undescribed();
  return { method, target: names.isUrl ? afterAuthority(target) : target };
}

const isToken = (text: string) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);

function onlyValue(fields: readonly string[], name: string): string {
  let value: string | undefined;
  for (let i = 0; i < fields.length; i += 2) {
    if (fields[i]!.length !== name.length || fields[i]!.toLowerCase() !== name) continue;
    if (value !== undefined) throw undescribed();
    value = fields[i + 1]!;
  }
  if (value === undefined) throw undescribed();
  return value;
}

/** Every byte from the first slash after the authority on; no URL parser may make another path of it. */
function afterAuthority(url: string): string {
  const start = urlStart.exec(url)?.[0];
  if (start === undefined) throw undescribed();
  return url.slice(start.length);
}

function undescribed(): Refusal {
  return new Refusal('bad_request', { reason: 'proxy did not say what is asked' });
}
