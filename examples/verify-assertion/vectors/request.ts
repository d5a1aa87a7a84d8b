import { type AssertionKey, createAssert } from '../../../src/credentials/assertion.ts';
import { createPrincipal, type Principal } from '../../../src/credentials/principal.ts';
import { type Algorithm, keys } from './keys.ts';

/** A request as an upstream receives it. */
export interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** When all assertions are signed, and unless a case says otherwise verified: epoch seconds. */
export const instant = 1_795_000_000;

/** What all verifiers are configured with. */
export const settings = { issuer: 'https://acme.example.com', audience: 'app', tenant: 'acme' } as const;

/** A caller, as the product makes one of a credential. */
export function caller(changes: Partial<Parameters<typeof createPrincipal>[0]> = {}): Principal {
  return createPrincipal({
    kind: 'session',
    userId: '019a0000-0000-7000-8000-000000000001',
    username: 'ada',
    displayName: null,
    email: null,
    scopes: ['store:read', 'store:write'],
    scopeSets: [],
    credentialId: '019a0000-0000-7000-8000-000000000002',
    expires: null,
    tenant: settings.tenant,
    ...changes,
  });
}

/** What is sent, and how it is signed. */
export interface Wanted {
  readonly method?: string;
  readonly target?: string;
  readonly principal?: Principal | null;
  readonly algorithm?: Algorithm;
  readonly key?: AssertionKey;
  readonly issuer?: string;
  readonly audience?: string;
  readonly jti?: string;
  /** Epoch seconds. */
  readonly signedAt?: number;
}

/** The request as Postern sends it, signed by the product's own signer. */
export function sent(wanted: Wanted = {}): SentRequest {
  const { method = 'GET', target = '/api/store/assets/17?page=2', principal = caller() } = wanted;
  return withAssertion({ method, target, headers: identityHeaders(principal) }, tokenFor(wanted));
}

/** The assertion alone. */
export function tokenFor(wanted: Wanted): string {
  const { method = 'GET', target = '/api/store/assets/17?page=2', principal = caller() } = wanted;
  const { algorithm = 'EdDSA', signedAt = instant, jti = 'jti-1' } = wanted;
  const assert = createAssert({
    ...settings,
    issuer: wanted.issuer ?? settings.issuer,
    audience: wanted.audience ?? settings.audience,
    lifetimeMs: 30_000,
    key: () => wanted.key ?? keys[algorithm],
    now: () => signedAt * 1000,
    newId: () => jti,
  });
  return assert(method, target, 'request-1', principal);
}

function identityHeaders(principal: Principal | null): [string, string][] {
  const flat = principal?.identity.fields ?? [];
  return flat.flatMap((name, i): [string, string][] => (i % 2 === 0 ? [[name, flat[i + 1]!]] : []));
}

/** The request with another assertion. */
export function withAssertion(request: SentRequest, token: string): SentRequest {
  const others = request.headers.filter(([name]) => name !== 'X-Auth-Assertion');
  return { ...request, headers: [...others, ['X-Auth-Assertion', token]] };
}

/** A good request whose assertion has other claims (undefined: none) or another header, rightly signed all the same. */
export function forged(
  claims: Readonly<Record<string, unknown>>,
  {
    header = {},
    algorithm = 'EdDSA',
    key = keys[algorithm],
    ...wanted
  }: Wanted & { readonly header?: object } = {},
): SentRequest {
  const request = sent({ ...wanted, algorithm });
  const [, payload] = request.headers.at(-1)![1].split('.');
  const all = { ...JSON.parse(Buffer.from(payload!, 'base64url').toString()), ...claims };
  return withAssertion(request, signed(all, { header, key }));
}

/** Headers that a later Postern may send, after the claims that repeat them. */
export const laterHeaders: Readonly<Record<string, string>> = {
  client_id: 'X-Auth-Client-Id',
  issuer: 'X-Auth-Issuer',
  delegated: 'X-Auth-Delegated',
  assurance: 'X-Auth-Assurance',
};

/** The request with further claims, and the headers that they repeat. */
export function forgedBeside(
  claims: Readonly<Record<string, unknown>>,
  ...headers: readonly (readonly [string, string])[]
): SentRequest {
  return withHeaders(forged(claims), {}, headers);
}

/** Any text or value as the payload of a token, with members of its header changed (undefined: left out). */
export function signed(
  payload: unknown,
  { header = {}, key = keys.EdDSA }: { readonly header?: object; readonly key?: AssertionKey },
): string {
  const own = JSON.parse(Buffer.from(key.encodedHeader, 'base64url').toString());
  const text = `${encoded({ ...own, ...header })}.${encoded(payload)}`;
  return `${text}.${key.sign(text)}`;
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** The request with headers changed, and others before and after them. */
export function withHeaders(
  request: SentRequest,
  changes: Readonly<Record<string, string | null>>,
  extra: readonly (readonly [string, string])[] = [],
): SentRequest {
  const kept = request.headers.flatMap(([name, value]): [string, string][] => {
    const change = changes[name];
    return change === null ? [] : [[name, change ?? value]];
  });
  return { ...request, headers: [...kept, ...extra] };
}
