import type { Test } from 'tap';
import {
  IdentityProvider,
  type IdentityProviderOptions,
  type Sender,
} from '../../../src/identity-providers/identity-provider.ts';
import { createProviderNetwork } from '../../../src/identity-providers/provider-network.ts';
import { SignInStarts } from '../../../src/identity-providers/sign-in-start.ts';
import {
  claims,
  es256,
  forge,
  header,
  jwkOf,
  settingsOf,
  start as startInstant,
} from '../corpora/forged-assertions.ts';
import { json, publish, startStubProvider } from './stub-provider.ts';

/** What the provider begins sign-ins with. */
export const starts = new SignInStarts(Buffer.alloc(32, 7));

/** Who brings something; `held` are the cookies of what was begun there. */
export interface TestSender extends Sender {
  readonly held: string[];
}

/** A browser that has begun nothing; `isOwnPage`: what it sends comes from no foreign page. */
export function newSender(isOwnPage = false): TestSender {
  const held: string[] = [];
  return { held, bindings: () => held, isOwnPage: () => isOwnPage };
}

/** The browser that begins unless another is named. */
export const mine = newSender();
/** Another one. */
export const theirs = newSender();
/** One that keeps no cookies. */
export const nobody = newSender();
/** How redeeming is refused. */
export const refused = { code: 'invalid_assertion' };

/** A provider over a stub that is called for real; what it burnt stands in `burnt`. */
export async function setUpRedeeming(
  t: Test,
  changes: object = {},
  options: Pick<IdentityProviderOptions, 'redeemTimeoutMs'> = {},
) {
  const stub = await startStubProvider(t);
  const network = createProviderNetwork({ documentTimeoutMs: 500, fetchTimeoutMs: 500 });
  t.teardown(() => network.close());
  publish(stub, [jwkOf(es256)]);
  const clock = { now: startInstant };
  const burnt = new Map<string, number>();
  const warnings: unknown[] = [];
  const settings = settingsOf({ issuer: stub.origin, ...changes });
  const createProvider = (name: string) =>
    new IdentityProvider({
      name,
      settings,
      network,
      starts,
      singleUse: {
        async consume(id, expires) {
          if (burnt.has(id) || expires <= clock.now) return false;
          burnt.set(id, expires);
          return true;
        },
        wasConsumed: async (id) => burnt.has(id),
        async release(id) {
          burnt.delete(id);
        },
      },
      now: () => clock.now,
      ...options,
      log: { warn: (message, fields) => warnings.push([message, fields]) },
    });
  const provider = createProvider('idp');
  const assertion = (change: object = {}, key = es256) =>
    forge(header, { ...claims, iss: stub.origin, ...change }, key);
  /** Begins a sign-in and gives what its address says. */
  async function begin(browser = mine, returnTo: string | null = null) {
    const { url, start } = await provider.start({ returnTo });
    browser.held.push(start.binding);
    return Object.fromEntries(new URL(url).searchParams) as { nonce: string; state: string };
  }
  /** Makes the token endpoint answer with that nonce. */
  const respondToCode = (nonce: string, change: object = {}) => {
    const tokens = { access_token: 'a', token_type: 'bearer', id_token: assertion({ nonce, ...change }) };
    stub.responses.set('/token', json(tokens));
  };
  return { stub, provider, createProvider, clock, burnt, warnings, assertion, begin, respondToCode };
}
