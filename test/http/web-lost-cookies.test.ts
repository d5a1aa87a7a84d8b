import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { navigation, ownForm, startWebGateway } from '../support/pages/web.ts';

const origin = 'https://acme.example.com';
/** What a browser says that is led on from a form of the sign-in page. */
const fromSignIn = { ...ownForm, referer: `${origin}/postern/sign-in?return_to=%2Fapp` };
const told = /If you have just signed in, your browser did not keep the cookie/;

t.test('a browser that keeps no cookies is told so after its sign-in', async (t) => {
  const { api, submit } = await startWebGateway(t, { web: { console: {} } });
  const signedIn = await submit('/postern/sign-in', { ...administrator, return_to: '/app/x?y=1' });
  t.match(signedIn, { status: 303, headers: { location: '/app/x?y=1' } });
  const follow = async (path: string, location: string) => {
    const led = await api.send({ path, headers: fromSignIn });
    t.match(led, { status: 302, headers: { location } });
    const page = await api.send({ path: location, headers: fromSignIn });
    t.match(page, { status: 200, text: told, setCookies: [] });
    return page;
  };
  const page = await follow('/app/x?y=1', '/postern/sign-in?return_to=%2Fapp%2Fx%3Fy%3D1&again=1');
  t.match(page.text, 'name="return_to" value="/app/x?y=1"', 'and can try again');
  t.match(page.text, '<title>Problem: Sign in');
  await follow('/postern/', '/postern/sign-in?again=1');
  await follow('/postern/password', '/postern/sign-in?return_to=%2Fpostern%2Fpassword&again=1');
  await follow('/postern/console/', '/postern/sign-in?return_to=%2Fpostern%2Fconsole%2F&again=1');
});

t.test('nobody else is told', async (t) => {
  const { api, open, signIn, submit, advance } = await startWebGateway(t, {
    cors: { origins: ['https://partner.example'] },
  });
  const plain = { status: 302, headers: { location: '/postern/sign-in?return_to=%2Fapp' } };
  const elsewhere: Record<string, Record<string, string>> = {
    'a link of the application': { ...fromSignIn, referer: `${origin}/app/start` },
    'a page below the sign-in': { ...fromSignIn, referer: `${origin}/postern/sign-in/staff` },
    'a page of another site at that path': {
      ...navigation,
      'sec-fetch-site': 'cross-site',
      referer: 'https://evil.example/postern/sign-in',
    },
    'a page of a partner at that path': {
      ...navigation,
      'sec-fetch-site': 'cross-site',
      referer: 'https://partner.example/postern/sign-in',
    },
    'a typed address': navigation,
    'no address': { ...fromSignIn, referer: 'about:blank' },
  };
  await signIn();
  for (const [title, headers] of Object.entries(elsewhere))
    t.match(await api.send({ path: '/app', headers }), plain, title);
  const ended = await signIn();
  await api.send({ method: 'POST', path: '/postern/sign-out', form: {}, headers: ownForm, cookie: ended });
  t.match(
    await api.send({ path: '/app', headers: fromSignIn, cookie: ended }),
    plain,
    'a session that has ended',
  );
  t.match(await api.send({ path: '/app', headers: fromSignIn }), plain, 'who has signed out and goes back');
  await signIn();
  const otherBrowser = { ...fromSignIn, 'user-agent': 'another' };
  t.match(await api.send({ path: '/app', headers: otherBrowser }), plain, 'another browser');
  t.match(await api.send({ path: '/app', headers: fromSignIn }), { headers: { location: /again=1/ } });
  advance(10_000);
  t.match(
    await api.send({ path: '/app', headers: fromSignIn }),
    plain,
    'who loads the page again much later',
  );
  await submit('/postern/sign-in', { username: 'ada', password: 'wrong' });
  t.match(await api.send({ path: '/app', headers: fromSignIn }), plain, 'who has not signed in at all');
  t.notMatch((await open('/postern/sign-in?return_to=%2Fapp&again=1', ended)).text, told);
  t.notMatch((await open('/postern/sign-in?return_to=%2Fapp')).text, told);
  const led = await open('/postern/sign-in?return_to=%2Fapp&again=1', await signIn());
  t.match(led, { status: 303, headers: { location: '/app' } }, 'who is signed in is led on');
});

t.test('a page that is reached by another name than base_url’s keeps no Secure cookie either', async (t) => {
  const { api, signIn } = await startWebGateway(t);
  await signIn();
  const referer = 'http://localhost:8080/postern/sign-in';
  const there = await api.send({ path: '/app', headers: { ...fromSignIn, referer } });
  t.match(there, { status: 302, headers: { location: '/postern/sign-in?return_to=%2Fapp&again=1' } });
});

t.test('the one text of a provider’s failures names cookies, which are one of them', async (t) => {
  const { open } = await startWebGateway(t, {
    identity_providers: { staff: { issuer: 'https://idp.invalid', client_id: 'postern' } },
  });
  const failed = await open('/postern/callback/staff?error=access_denied&state=x');
  t.match(failed, { status: 401, text: /did not work or took too long.*allow cookies for this site/ });
});
