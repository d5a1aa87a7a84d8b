import { Refusal } from '../errors.ts';
import type { RequestHeadText } from '../http1/message/message-head.ts';
import { knownMethods } from '../http1/message/node-http.ts';
import type { DescribingHeaders, Mode } from './modes.ts';

/** Method and target of a request that a proxy asks about. */
export interface DescribedRequest {
  readonly method: string;
  readonly target: string;
}

/** Prefix that Envoy puts before the target. */
const envoyPrefix = '/check';
const slash = 0x2f;

/**
 * A scheme and an authority of letters, digits and the separators of names, addresses and ports, which no parser ends elsewhere.
 */
const urlStart = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[A-Za-z0-9.\-_:[\]]+(?=\/)/;

/**
 * Reads the description of a request, only from the headers of the mode.
 *
 * Throws `bad_request` unless each part is present exactly once; `not_implemented` for an unknown method; `not_found` for a path
 * other than the one to ask at.
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

/** All bytes from the first slash after the authority; a URL parser could make another path of them. */
function afterAuthority(url: string): string {
  const start = urlStart.exec(url)?.[0];
  if (start === undefined) throw undescribed();
  return url.slice(start.length);
}

function undescribed(): Refusal {
  return new Refusal('bad_request', { reason: 'proxy did not describe the request' });
}
