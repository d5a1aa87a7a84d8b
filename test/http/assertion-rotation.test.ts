import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { assertionKeysPath } from '../support/servers/asserting-upstream.ts';

const minutes = 60_000;

t.test('a copy of the keys that is five minutes old verifies what the next key signs', async (t) => {
  const gateway = await startTestGateway(t, {
    config: {
      signing_keys: { rotate_every: '1h', publish_ahead: '10m' },
      upstreams: { app: { url: 'builtin:echo', assertion: { lifetime: '1m' } } },
      routes: [{ prefix: '/api', upstream: 'app', public: true }],
    },
  });
  let ahead = 0;
  const advance = (milliseconds: number) => {
    ahead += milliseconds;
    gateway.advance(milliseconds);
  };
  const keys = async (): Promise<JSONWebKeySet> => (await gateway.api.send({ path: assertionKeysPath })).json;
  const published = async () => (await keys()).keys.map(({ kid }) => kid);
  const assertion = async (): Promise<string> => {
    const { json } = await gateway.api.send({ path: '/api/x' });
    return json.headers.find(([name]: [string]) => /^x-auth-assertion$/i.test(name))[1];
  };
  const kid = async () => decodeProtectedHeader(await assertion()).kid;
  const verify = (token: string, copy: JSONWebKeySet) =>
    jwtVerify(token, createLocalJWKSet(copy), { audience: 'app', currentDate: new Date(Date.now() + ahead) });

  const [first] = await published();
  t.equal(await kid(), first, 'the first key of a store signs at once');
  advance(50 * minutes);
  await eventually('the next key is published', async () => (await published()).length === 2);
  t.equal(await kid(), first, 'and waits');

  advance(5 * minutes);
  const copy = await keys();
  advance(5 * minutes - 5_000);
  const last = await assertion();
  t.equal(decodeProtectedHeader(last).kid, first, 'to the end');
  advance(5_000);
  await eventually('the next key signs', async () => (await kid()) !== first);
  await verify(await assertion(), copy);
  advance(50_000);
  await verify(last, await keys());

  advance(3 * minutes);
  await eventually('the first key goes', async () => (await published()).length === 1);
  t.notOk((await published()).includes(first));
  await verify(await assertion(), await keys());
});
