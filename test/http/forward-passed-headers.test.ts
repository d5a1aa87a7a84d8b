import t from 'tap';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { assertionSettings, makeSecret } from '../support/servers/asserting-upstream.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';

const passed = ['X-Auth-Token', 'x-auth-email'];
/** Spellings of the names that pass, and names that still don't. */
const sent = {
  'X-Auth-Token': 'token',
  'X-AUTH-EMAIL': 'email',
  X_Auth_Token: 'evil',
  'X-Auth_Token': 'evil',
  'X.Auth.Email': 'evil',
  'X-Auth-Tokens': 'evil',
  'X-Auth-Subject': 'evil',
  'X-Auth-Client-Id': 'evil',
  'X-Forwarded-Prefix': '/evil',
};

for (const engine of ['built_in', 'node'])
  t.test(
    `an application’s own names pass as they are spelled, and no others: engine ${engine}`,
    async (t) => {
      const signed = await startRecordingUpstream();
      t.teardown(() => signed.close());
      const { file } = makeSecret();
      const recorder = await startRecordingUpstream();
      t.teardown(() => recorder.close());
      const gateway = await startForwarding(t, {
        listen: { engine },
        headers: { pass: passed, odd_names: 'pass' },
        upstreams: {
          app: { url: recorder.url },
          signed: { url: signed.url, assertion: assertionSettings('HS256', file) },
        },
        routes: [
          { prefix: '/api/app', upstream: 'app' },
          { prefix: '/api/app/open', upstream: 'app', public: true },
          { prefix: '/api/signed', upstream: 'signed' },
          { prefix: '/api/signed/open', upstream: 'signed', public: true },
        ],
      });
      for (const path of ['/api/app', '/api/signed']) {
        t.equal((await gateway.api.send({ path, bearer: gateway.bearer, headers: sent })).status, 200);
        t.equal((await gateway.api.send({ path: `${path}/open`, headers: sent })).status, 200);
      }
      for (const seen of [...recorder.seen, ...signed.seen])
        t.notMatch(JSON.stringify(seen.rawHeaders), /evil/);
      t.same(
        recorder.seen.map((seen) => seen.values('x-auth-token')),
        [['token'], ['token']],
      );
      t.same(
        recorder.seen.map((seen) => seen.values('x-auth-email')),
        [['email'], ['email']],
      );
      t.same(
        signed.seen.map((seen) => seen.values('x-auth-token')),
        [[], []],
        'its verifier would refuse them',
      );
      t.same(
        signed.seen.map((seen) => seen.values('x-auth-email')),
        [[], []],
      );
      t.same(
        signed.seen.map((seen) => seen.values('x-auth-assertion').length),
        [1, 1],
      );
    },
  );

t.test('what is dropped by its name is dropped, whatever passes', async (t) => {
  const gateway = await startForwarding(t, { headers: { pass: passed, drop: ['X_Auth_Token'] } });
  await gateway.api.send({ path: '/api/store/x', bearer: gateway.bearer, headers: sent });
  const [seen] = gateway.upstream.seen;
  t.same(seen!.values('x-auth-token'), []);
  t.same(seen!.values('x-auth-email'), ['email']);
});

t.test('a reload to names that pass counts for the next request', async (t) => {
  const gateway = await startForwarding(t);
  const send = () => gateway.api.send({ path: '/api/store/x', bearer: gateway.bearer, headers: sent });
  await send();
  await gateway.reload({ headers: { pass: passed } });
  await send();
  t.same(
    gateway.upstream.seen.map((seen) => seen.values('x-auth-token')),
    [[], ['token']],
  );
});
