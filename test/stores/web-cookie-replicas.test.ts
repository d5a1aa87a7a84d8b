import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { leeway } from '../support/gateway/replicas.ts';
import { cookieNamed, navigation, ownForm, webCookieName } from '../support/pages/web.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

t.setTimeout(600_000);

const { username, password } = administrator;

/** The web cookie of a sign-in with the form. */
async function signIn({ api }: GatewayProcess): Promise<string> {
  const form = { username, password };
  const response = await api.send({ method: 'POST', path: '/postern/sign-in', form, headers: ownForm });
  const cookie = cookieNamed(response, webCookieName);
  if (cookie === undefined) throw new Error(`${response.status} ${response.text}`);
  return cookie;
}

const statusAt = async ({ api }: GatewayProcess, cookie: string) =>
  (await api.send({ path: '/app', headers: navigation, cookie })).status;

/** How a session ends at one gateway. */
const ends: Readonly<Record<string, (gateway: GatewayProcess, cookie: string) => Promise<number>>> = {
  'signing out': async ({ api }, cookie) => {
    const request = { method: 'POST', path: '/postern/sign-out', form: {}, headers: ownForm, cookie };
    return (await api.send(request)).status;
  },
  'signing in once more': async ({ api }, cookie) => {
    const form = { username, password };
    const request = { method: 'POST', path: '/postern/sign-in', form, headers: ownForm, cookie };
    return (await api.send(request)).status;
  },
  'ending all other sessions': async ({ api }) => {
    const { accessToken: bearer } = await api.signIn(username, password);
    return (await api.send({ method: 'DELETE', path: '/api/self/sessions/?others=true', bearer })).status;
  },
};

testOnEveryStore(
  'the web cookie is dead with its session, at the other gateway within a second',
  async (t, stores) => {
    const throttle = { per_account_and_address: 1e6, per_account: 1e6, per_address: 1e6 };
    const config = {
      ...stores,
      web: {},
      login_throttle: throttle,
      upstreams: { echo: { url: 'builtin:echo' } },
      routes: [{ prefix: '/', upstream: 'echo', browser: true }],
      shutdown: { timeout: '50ms' },
    };
    const one = await startGatewayProcess(t, { config });
    const other = await startGatewayProcess(t, { config, folder: one.folder });
    await one.api.activate(username, password, bootstrapToken);

    for (const [name, end] of Object.entries(ends))
      for (const [where, elsewhere] of [
        [one, other],
        [other, one],
      ] as const)
        await t.test(`${name} at ${where === one ? 'one' : 'the other'}`, async (t) => {
          const cookie = await signIn(where);
          await eventually('it is known at both', async () => (await statusAt(elsewhere, cookie)) === 200);
          const status = await end(where, cookie);
          const since = performance.now();
          t.ok(status < 400, `${status}`);
          t.equal(await statusAt(where, cookie), 302, 'here at once');
          await eventually('it is refused there', async () => (await statusAt(elsewhere, cookie)) === 302);
          const tookMs = Math.round(performance.now() - since);
          t.ok(tookMs < 1_000 * leeway, `there after ${tookMs} ms`);
          for (const gateway of [where, elsewhere]) t.equal(await statusAt(gateway, cookie), 302, 'for good');
        });
  },
);
