import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { credentialCount } from './peer.ts';

/** An OpenID provider in the benchmark's own process, for peers that take what others issue. It signs everybody in. */
export interface IdentityProvider {
  readonly issuer: string;
  readonly audience: string;
  /** A JSON Web Key Set, as a document. */
  readonly keySet: { readonly keys: readonly JWK[] };
  /** Tokens of so many people, good for a day. */
  createTokens(): Promise<string[]>;
  stop(): void;
}

const audience = 'bench';
const algorithm = 'RS256';

/** Starts it. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm);
  const keySet = { keys: [{ ...(await exportJWK(publicKey)), kid: 'bench', alg: algorithm, use: 'sig' }] };
  let issuer = '';
  const people: (string | null)[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', issuer);
    const send = (document: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    if (url.pathname === '/.well-known/openid-configuration') send(metadata(issuer));
    else if (url.pathname === '/keys') send(keySet);
    else if (url.pathname === '/authorize') {
      // The code is the number of the person, whose nonce is remembered.
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', `${people.push(url.searchParams.get('nonce')) - 1}`);
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      response.writeHead(302, { location: back.href }).end();
    } else if (url.pathname === '/token') {
      const person = Number(new URLSearchParams(await read(request)).get('code'));
      const token = await sign(privateKey, issuer, person, people[person]);
      send({ access_token: 'bench', token_type: 'Bearer', expires_in: 86_400, id_token: token });
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    audience,
    keySet,
    createTokens: () =>
      Promise.all(Array.from({ length: credentialCount }, (_, person) => sign(privateKey, issuer, person))),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function metadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [algorithm],
  };
}

function sign(key: CryptoKey, issuer: string, person: number, nonce?: string | null): Promise<string> {
  const claims = {
    email: `person-${person}@bench.example`,
    email_verified: true,
    ...(nonce ? { nonce } : {}),
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, kid: 'bench' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(`subject-${person}`)
    .setIssuedAt()
    .setExpirationTime('1d')
    .sign(key);
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
