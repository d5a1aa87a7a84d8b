import { readFileSync } from 'node:fs';
import t from 'tap';
// @ts-expect-error: plain JavaScript, as services copy it.
import { createVerifier } from '../../examples/verify-assertion/node/verify-assertion.js';
import { vectors, vectorsFile, vectorsText } from '../../examples/verify-assertion/vectors/make.ts';
import { forged, instant, type SentRequest, sent } from '../../examples/verify-assertion/vectors/request.ts';

const { issuer, audience, jwks, secret } = vectors;

/** A new verifier for each case, at its time. */
const verifierOf = ({ algorithm, now }: { readonly algorithm: string; readonly now: number }) =>
  createVerifier({
    issuer,
    audience,
    algorithm,
    secret: algorithm === 'HS256' ? Buffer.from(secret) : undefined,
    loadKeys: async () => jwks,
    now: () => now * 1000,
  });

t.test('the verifier for Node passes every vector', async (t) => {
  t.ok(vectors.cases.length >= 60);
  for (const each of vectors.cases) {
    const verify = verifierOf(each);
    const verdicts = [];
    for (const { method, target, headers } of each.requests)
      verdicts.push(
        await verify({ method, url: target, rawHeaders: headers.flat() }).then(
          () => true,
          () => false,
        ),
      );
    t.strictSame(verdicts, [...each.requests.slice(1).map(() => true), each.accepted], each.name);
  }
});

/** Signatures of ES256 are never the same twice; `eyJ…` is `{"alg":"ES256",`. */
const comparable = (text: string) =>
  text.replaceAll(/(?<=eyJhbGciOiJFUzI1NiIs[\w-]*\.[\w-]+\.)[\w-]{86}/g, '');

t.test('the vectors are what the product signs', async (t) => {
  const kept = readFileSync(vectorsFile, 'utf8');
  t.equal(comparable(kept), comparable(vectorsText()), 'node examples/verify-assertion/vectors/make.ts');
  t.equal(new Set(vectors.cases.map(({ name }) => name)).size, vectors.cases.length, 'names differ');
});

t.test('a copy of the keys counts for five minutes, and a new kid needs another one', async (t) => {
  let seconds = 0;
  let published: readonly object[] = jwks.keys;
  let loads = 0;
  const verify = createVerifier({
    issuer,
    audience,
    algorithm: 'EdDSA',
    loadKeys: async () => {
      loads += 1;
      return { keys: published };
    },
    now: () => (instant + seconds) * 1000,
  });
  const verdict = (request: SentRequest) =>
    verify({ method: request.method, url: request.target, rawHeaders: request.headers.flat() }).then(
      () => true,
      () => false,
    );
  const now = () => sent({ signedAt: instant + seconds });
  const ofNewKid = () => forged({}, { signedAt: instant + seconds, header: { kid: 'new' } });

  t.strictSame([await verdict(now()), loads], [true, 1]);
  published = [{ ...jwks.keys[0], kid: 'new' }];
  seconds = 9;
  t.strictSame([await verdict(ofNewKid()), loads], [false, 1], 'a flood of them costs nothing');
  seconds = 10;
  t.strictSame([await verdict(ofNewKid()), loads], [true, 2]);
  seconds = 309;
  t.strictSame([await verdict(ofNewKid()), loads], [true, 2]);
  published = [];
  t.strictSame([await verdict(ofNewKid()), loads], [true, 2]);
  seconds = 310;
  t.strictSame([await verdict(ofNewKid()), loads], [false, 3], 'a key that was taken back');
});
