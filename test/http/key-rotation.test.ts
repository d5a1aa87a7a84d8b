import { decodeProtectedHeader } from 'jose';
import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';

const username = 'grace';
const password = 'nanoseconds are this long';
const minutes = 60_000;
const rotation = { signing_keys: { rotate_every: '1h', publish_ahead: '10m' } };

async function startWithUser(t: Parameters<typeof startTestGateway>[0], config: object, folder?: string) {
  const gateway = await startTestGateway(t, { config, ...(folder !== undefined && { folder }) });
  if (folder === undefined) await addUser(gateway.folder, { username, password, scopes: ['store:read'] });
  return gateway;
}

async function publishedBy({ api }: Pick<TestGateway, 'api'>): Promise<readonly string[]> {
  const { json } = await api.send({ path: '/.well-known/jwks.json' });
  return json.keys.map(({ kid }: { readonly kid: string }) => kid);
}

/** Resolves once so many keys are published. */
function published(gateway: Pick<TestGateway, 'api'>, count: number): Promise<true> {
  return eventually(`${count} keys`, async () => (await publishedBy(gateway)).length === count);
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid;

async function works({ api }: Pick<TestGateway, 'api'>, token: string): Promise<boolean> {
  return (await api.send({ path: '/api/store/x', bearer: token })).status === 200;
}

t.test(
  'the next key is published before it signs, the earlier one until its last token is dead',
  async (t) => {
    const gateway = await startWithUser(t, rotation);
    const { accessToken: old, cookie } = await gateway.api.signIn(username, password);
    const [first] = await publishedBy(gateway);
    t.equal(kidOf(old), first);
    t.equal((await publishedBy(gateway)).length, 1);

    const toRotation = async () =>
      (await scrape(gateway.managementPort)).value('signing_key_seconds_to_rotation', {
        purpose: 'access-token',
      });
    t.ok(Math.abs((await toRotation()) - 3_600) < 60);
    gateway.advance(50 * minutes);
    await published(gateway, 2);
    t.ok(Math.abs((await toRotation()) - 600) < 60);
    const [next] = await publishedBy(gateway);
    const msg = 'signing key added; it does not sign yet';
    const added = gateway.logLines().find((line) => line.msg === msg && line.kid === next);
    t.strictSame(
      Object.keys(added ?? {}).filter((name) => !['level', 'time', 'msg', 'pid', 'hostname'].includes(name)),
      ['purpose', 'algorithm', 'kid'],
      'the log has nothing of the private key',
    );
    const fresh = await gateway.api.refresh(cookie);
    t.equal(kidOf(fresh.json.access_token), first, 'the next one waits');

    gateway.advance(10 * minutes - 5_000);
    const last = await gateway.api.signIn(username, password);
    t.equal(kidOf(last.accessToken), first, 'to the end');
    gateway.advance(5_000);
    await eventually('the next key signs', async () => {
      const { accessToken } = await gateway.api.signIn(username, password);
      return kidOf(accessToken) === next;
    });
    t.ok(await works(gateway, last.accessToken), 'what the earlier key has signed is valid');
    t.same((await publishedBy(gateway)).toSorted(), [first!, next!].toSorted(), 'and the key published');

    gateway.advance(12 * minutes);
    await published(gateway, 1);
    t.same(await publishedBy(gateway), [next]);
    t.equal((await gateway.api.refresh(cookie)).status, 200, 'nobody was signed out');
  },
);

t.test('cookies live through rotations of their secret', async (t) => {
  const gateway = await startWithUser(t, { ...rotation, tokens: { access_lifetime: '1s' } });
  const cookies: string[] = [];
  for (const _ of [1, 2, 3]) cookies.push((await gateway.api.signIn(username, password)).cookie);
  const added = () => gateway.logLines().flatMap(({ purpose, kid }) => (purpose === 'cookie' ? [kid] : []));
  const rotated = () =>
    gateway.logLines().filter(({ event, target }) => event === 'signing_key_rotated' && target !== null);
  for (const [index, cookie] of cookies.entries()) {
    gateway.advance(50 * minutes);
    await eventually('there is another secret', () => added().length === index + 1);
    gateway.advance(10 * minutes);
    const isLast = ({ target }: Record<string, any>) => target.id === added()[index];
    await eventually('it counts for new cookies', () => rotated().some(isLast));
    t.equal((await gateway.api.refresh(cookie)).status, 200);
  }
});

t.test('a key signs on without rotation', async (t) => {
  const gateway = await startWithUser(t, { signing_keys: { rotate_every: 'never' } });
  gateway.advance(1000 * 24 * 60 * minutes);
  const { accessToken } = await gateway.api.signIn(username, password);
  t.same(await publishedBy(gateway), [kidOf(accessToken)]);
  const { series } = await scrape(gateway.managementPort);
  t.notOk([...series].some((name) => name.includes('seconds_to_rotation')));
});
