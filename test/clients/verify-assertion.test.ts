import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import t, { type Test } from 'tap';
import { vectors } from '../../examples/verify-assertion/vectors/make.ts';
import {
  buildGoJudge,
  type Judge,
  type JudgedCase,
  judgeInGo,
  judgeInPython,
} from '../support/clients/verifier-programs.ts';
import { createRandom, type Random } from '../support/corpora/random.ts';
import { type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import {
  type Algorithm,
  algorithms,
  assertionKeysPath,
  assertionSettings,
  exampleVerifier,
  makeSecret,
  verifyWithJose,
} from '../support/servers/asserting-upstream.ts';
import { type SeenRequest, startRecordingUpstream } from '../support/servers/recording-upstream.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';
import { pythonTool, requireTools } from './client-tools.ts';

t.setTimeout(600_000);

/** Each language with its judge; undefined where it is not there, which the test then says. */
const languages: Readonly<Record<string, (t: Test) => Promise<Judge | undefined>>> = {
  async Python(t) {
    const python = pythonTool('python');
    return requireTools(t, python) ? judgeInPython(python) : undefined;
  },
  // Even where everything has to have run: `.ci/run` installs no Go.
  async Go(t) {
    const [, minor] =
      /go1\.(\d+)/.exec(spawnSync('go', ['version'], { encoding: 'utf8' }).stdout ?? '') ?? [];
    if (!(Number(minor) >= 22)) t.pass('needs Go', { skip: 'Go 1.22 or later is not installed' });
    else {
      const binary = join(makeTemporaryFolder('postern-verify-'), 'judge');
      await buildGoJudge(binary);
      return judgeInGo(binary);
    }
    return undefined;
  },
};

for (const [language, judgeOf] of Object.entries(languages))
  t.test(`the verifier for ${language} passes every vector`, async (t) => {
    const judge = await judgeOf(t);
    if (judge === undefined) return;
    const { cases, ...told } = vectors;
    const verdicts = await judge(
      'verifier',
      cases.map((each) => ({ ...told, ...each })),
    );
    t.equal(verdicts.length, cases.length);
    cases.forEach(({ name, requests, accepted }, i) => {
      t.strictSame(verdicts[i], [...requests.slice(1).map(() => true), accepted], name);
    });
  });

const count = isLong ? 1_000 : 60;
const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** A target that is forwarded: with escapes, reserved characters, and queries of every kind. */
function targetOf(random: Random): string {
  const letters = [
    'a',
    'Z',
    '7',
    '-',
    '.x',
    '_',
    '~',
    '%20',
    '%C3%A9',
    '%E2%82%AC',
    ':',
    '@',
    '!',
    "'",
    '(',
    ',',
    '=',
  ];
  const some = (from: readonly string[], most: number) =>
    Array.from({ length: 1 + random.below(most) }, () => random.pick(from)).join('');
  const path = Array.from({ length: 1 + random.below(4) }, () => `q${some(letters, 6)}`).join('/');
  const query = random.oneIn(3)
    ? ''
    : `?${random.oneIn(4) ? '' : some([...letters, '&', '?', '/', '%3F', '+'], 30)}`;
  return `/api/${random.oneIn(3) ? 'open/' : ''}${path}${query}`;
}

/** Sends requests of every kind, and gives what the upstream saw. */
async function sendMany(gateway: Forwarding, seen: readonly SeenRequest[], random: Random): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const method = random.pick(methods);
    const path = targetOf(random);
    const who = random.below(path.startsWith('/api/open') ? 3 : 2);
    const { status } = await gateway.api.send({
      method,
      path,
      headers: { ...(who === 0 && { 'x-api-key': gateway.key }), 'X-Auth-Subject': 'evil' },
      ...(who === 1 && { bearer: gateway.bearer }),
      ...(/^P/.test(method) && { body: 'x'.repeat(random.below(100)) }),
    });
    if (status !== 200 || seen.length !== i + 1) throw new Error(`${method} ${path} was ${status}`);
  }
}

const pairsOf = ({ rawHeaders }: SeenRequest) =>
  rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, rawHeaders[i + 1]!] as const] : []));

/** What of a request could be another's, each refused: the list of what an assertion is there for. */
function attacks(seen: readonly SeenRequest[], bearer: string): readonly (readonly [string, SeenRequest])[] {
  const post = seen.find(({ method }) => method === 'POST')!;
  const get = seen.find((each) => each.method === 'GET' && each.values('x-auth-subject').length === 1)!;
  const withHeaders = (change: (name: string, value: string) => string[]): SeenRequest => ({
    ...get,
    rawHeaders: pairsOf(get).flatMap(([name, value]) => change(name, value)),
  });
  const replaced = (wanted: string, value: string) =>
    withHeaders((name, old) => [name, name.toLowerCase() === wanted ? value : old]);
  const added = (name: string, value: string): SeenRequest => ({
    ...get,
    rawHeaders: [...get.rawHeaders, name, value],
  });
  const [head, payload] = get.values('x-auth-assertion')[0]!.split('.');
  const none = Buffer.from('{"alg":"none","typ":"postern-assertion+jwt"}').toString('base64url');
  return [
    ['another path', { ...get, target: `/api/x${get.target}` }],
    ['another query', { ...get, target: `${get.target.split('?')[0]}?other` }],
    ['another method', { ...get, method: 'DELETE' }],
    ['a POST replayed', post],
    ['a changed header', replaced('x-auth-scopes', 'users:write')],
    ['a doubled header', added('X-Auth-Subject', get.values('x-auth-subject')[0]!)],
    ['an oddly spelled header', added('X_Auth_Subject', 'evil')],
    ['alg none', replaced('x-auth-assertion', `${none}.${payload}.`)],
    ['no signature', replaced('x-auth-assertion', `${head}.${payload}.`)],
    ['an access token in its place', replaced('x-auth-assertion', bearer)],
  ];
}

async function start(t: Test, algorithm: Algorithm) {
  const { secret, file } = makeSecret(Buffer.from(randomBytes(32).toString('base64')));
  const recorder = await startRecordingUpstream();
  t.teardown(() => recorder.close());
  const gateway = await startForwarding(t, {
    upstreams: { app: { url: recorder.url, assertion: assertionSettings(algorithm, file) } },
    routes: [
      { prefix: '/api/open', upstream: 'app', public: true },
      { prefix: '/api', upstream: 'app' },
    ],
  });
  return { gateway, recorder, secret, algorithm };
}

for (const algorithm of algorithms)
  t.test(`verifiers accept the gateway’s assertions, and nothing made of them: ${algorithm}`, async (t) => {
    const { gateway, recorder, secret } = await start(t, algorithm);
    const seed = Number(process.env.SEED ?? 20261123);
    t.comment(`SEED=${seed}`);
    await sendMany(gateway, recorder.seen, createRandom(seed));
    const sent = [...recorder.seen];
    const now = decodeJwt(sent.at(-1)!.values('x-auth-assertion')[0]!).iat!;
    const bad = attacks(sent, gateway.bearer);

    await t.test('Node, and jose', async (t) => {
      const verification = { algorithm, secret, api: gateway.api, now: () => now * 1000 };
      const verify = exampleVerifier(verification);
      for (const each of sent) {
        await verify(each);
        await verifyWithJose(each.values('x-auth-assertion')[0]!, verification);
      }
      for (const [name, each] of bad) await t.rejects(verify(each), name);
      const later = exampleVerifier({ ...verification, now: () => (now + 36) * 1000 });
      await t.rejects(later(sent.at(-1)!), '36 s later');
      await t.rejects(exampleVerifier({ ...verification, audience: 'other' })(sent[0]!), 'another upstream');
    });

    const jwks = (await gateway.api.send({ path: assertionKeysPath })).json;
    const told: Omit<JudgedCase, 'requests'> = {
      issuer: 'https://acme.example.com',
      audience: 'app',
      algorithm,
      jwks,
      secret: secret.toString('latin1'),
      now,
    };
    const asRequest = (each: SeenRequest) => ({
      ...each,
      body: undefined,
      rawHeaders: undefined,
      headers: pairsOf(each),
    });
    const good = { ...told, requests: sent.map(asRequest) };
    for (const [language, judgeOf] of Object.entries(languages))
      await t.test(`${language}, and its library`, async (t) => {
        const judge = await judgeOf(t);
        if (judge === undefined) return;
        const [accepted, refused, late, elsewhere, tenant] = await judge('verifier', [
          good,
          { ...told, requests: [...sent, ...bad.map(([, each]) => each)].map(asRequest) },
          { ...good, now: now + 36, requests: good.requests.slice(-1) },
          { ...good, audience: 'other' },
          { ...good, issuer: 'https://other.example.com' },
        ]);
        t.strictSame(
          accepted,
          sent.map(() => true),
        );
        bad.forEach(([name], i) => void t.equal(refused![sent.length + i], false, name));
        for (const verdicts of [late, elsewhere, tenant]) t.notOk(verdicts!.some((verdict) => verdict));
        const [byLibrary, otherAudience] = await judge('library', [good, { ...good, audience: 'other' }]);
        t.strictSame(
          byLibrary,
          sent.map(() => true),
        );
        t.notOk(otherAudience!.some((verdict) => verdict));
      });
  });
