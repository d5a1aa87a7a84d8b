import type { Config, DecisionListenerConfig } from '../config/sections/schema.ts';
import { Refusal } from '../errors.ts';
import { createTrustedProxies, describedAddress, type TrustedProxies } from '../http/client-address.ts';
import { type CreateExchange, Exchange } from '../http/exchange.ts';
import type { RequestHeadText } from '../http1/message/message-head.ts';
import { knownMethods } from '../http1/message/node-http.ts';
import type { Mode } from './modes.ts';

/** Peers that may ask, and all addresses that belong to proxies, not to clients. */
export interface Askers {
  readonly proxies: TrustedProxies;
  /** The peers that may ask, and `trusted_proxies`. */
  readonly ours: TrustedProxies;
  /** True if they have to name the host of each request that they ask about. */
  readonly describeHosts: boolean;
}

/** The {@link Askers} of a listener: its `proxies`, and these together with `trusted_proxies`. */
export function askersOf(listener: DecisionListenerConfig, config: Config): Askers {
  const { proxies } = listener;
  return {
    proxies: createTrustedProxies(proxies),
    ours: createTrustedProxies([...proxies, ...config.trusted_proxies]),
    describeHosts: describesHost(listener, config),
  };
}

/** True if a listener reads which host a request is for: routes, cookies and sign-ins depend on it. */
export function describesHost(
  { browser }: Pick<DecisionListenerConfig, 'browser'>,
  { hosts }: Pick<Config, 'hosts'>,
): boolean {
  return browser || hosts !== undefined;
}

/**
 * Creates the function that makes exchanges with the method, target, host and client address of the request that a proxy asks
 * about. The exchange of a peer that may not ask, or without a usable description, is unfit, and keeps its own method and target.
 */
export function createQuestionReader(mode: Mode, askers: () => Askers): CreateExchange {
  return (channel, response, head, text) => {
    const { proxies, ours, describeHosts } = askers();
    if (!proxies.isTrusted(channel.peer)) {
      const unknown = new Refusal('address_not_allowed', { close: true });
      return new Exchange(channel, response, head, text, channel.peer, false, unknown);
    }
    const address = describedAddress(head.forwardedFor, ours);
    try {
      const described = { ...readDescribed(mode, text), minor: text.minor };
      const host = describeHosts ? readHost(mode, text.fields) : null;
      return new Exchange(channel, response, head, described, address, true, null, host);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return new Exchange(channel, response, head, text, address, true, error);
    }
  };
}

type Described = Pick<RequestHeadText, 'method' | 'target'>;

/** Prefix that Envoy puts before the target. */
const envoyPrefix = '/check';
const slash = 0x2f;

/**
 * Scheme and authority: only letters, digits and separators, so that every parser sees the same end of the authority, which is
 * captured.
 */
const urlStart = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/([A-Za-z0-9.\-_:[\]]+)(?=\/)/;

/**
 * Reads the description of a request, only from the headers of the mode. Throws `bad_request` unless each part is present exactly
 * once, `not_implemented` for an unknown method, `not_found` if the question's path lacks the mode's prefix.
 */
function readDescribed({ described }: Mode, question: RequestHeadText): Described {
  return described === null ? afterPrefix(question) : inHeaders(described, question.fields);
}

function afterPrefix({ method, target }: RequestHeadText): Described {
  if (!target.startsWith(envoyPrefix) || target.charCodeAt(envoyPrefix.length) !== slash)
    throw new Refusal('not_found');
  return { method, target: target.slice(envoyPrefix.length) };
}

/**
 * Reads the host of the request asked about, only from the header of the mode. Throws `bad_request` unless it is there exactly
 * once.
 */
function readHost({ described }: Mode, fields: readonly string[]): string {
  const value = onlyValue(fields, described?.host ?? 'host');
  const host = described?.isUrl === true ? urlStart.exec(value)?.[1] : value;
  if (host === undefined || host === '') throw undescribed();
  return host;
}

function inHeaders(names: NonNullable<Mode['described']>, fields: readonly string[]): Described {
  const method = onlyValue(fields, names.method);
  const target = onlyValue(fields, names.target);
  const problem = problemOfMethod(method);
  if (problem !== null) throw problem;
  return { method, target: names.isUrl ? afterAuthority(target) : target };
}

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

/** The target in a URL: all bytes from the first slash after the authority, because a URL parser could change the path. */
function afterAuthority(url: string): string {
  const start = urlStart.exec(url)?.[0];
  if (start === undefined) throw undescribed();
  return url.slice(start.length);
}

/** The refusal of a method that Node's parser doesn't know; null if it does. */
export function problemOfMethod(method: string): Refusal | null {
  if (knownMethods.has(method)) return null;
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(method) ? new Refusal('not_implemented') : undescribed();
}

/** The refusal of a question without a usable description. */
export function undescribed(): Refusal {
  return new Refusal('bad_request', { reason: 'proxy did not describe the request' });
}
