import t from 'tap';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';

/** A gateway in front of two upstreams, one with identity headers of its own, and every name a client might send. */
async function scene(t: Parameters<typeof startForwarding>[0]) {
  const grafana = await startRecordingUpstream();
  t.teardown(() => grafana.close());
  const other = await startRecordingUpstream();
  t.teardown(() => other.close());
  const names = {
    'Remote-User': 'username',
    'X-WEBAUTH-USER': 'username',
    'X-WEBAUTH-ROLE': 'scopes_csv',
    'X-Forwarded-User': 'subject',
    'X-Webauth-Email': 'email',
  };
  const gateway = await startForwarding(t, {
    upstreams: { app: { url: grafana.url, identity_headers: names }, other: { url: other.url } },
    routes: [
      { prefix: '/api/app', upstream: 'app' },
      { prefix: '/api/app/open', upstream: 'app', public: true },
      { prefix: '/api/app/cors', upstream: 'app', preflight: 'upstream' },
      { prefix: '/api/other', upstream: 'other' },
    ],
  });
  const spoofed = Object.fromEntries(
    [...Object.keys(names), 'remote_user', 'X_WEBAUTH_USER', 'X.Webauth.Role', 'X_Forwarded_User'].map(
      (name) => [name, 'evil'],
    ),
  );
  return { gateway, grafana, other, spoofed };
}

t.test('an upstream gets the caller’s identity in the headers it configured', async (t) => {
  const { gateway, grafana, spoofed } = await scene(t);
  await gateway.api.send({ path: '/api/app/x', bearer: gateway.bearer, headers: spoofed });
  await gateway.api.send({ path: '/api/app/x', headers: { ...spoofed, 'x-api-key': gateway.key } });
  t.equal(grafana.seen.length, 2);
  for (const seen of grafana.seen) {
    t.same(seen.values('remote-user'), [administrator.username]);
    t.same(seen.values('x-webauth-user'), [administrator.username]);
    t.same(seen.values('x-webauth-role'), [seen.values('x-auth-scopes')[0]!.replaceAll(' ', ',')]);
    t.same(seen.values('x-forwarded-user'), seen.values('x-auth-subject'));
    t.same(seen.values('x-webauth-email'), [], 'the caller has none');
    t.notMatch(JSON.stringify(seen), /evil/);
  }
});

t.test('anonymous requests carry no identity, and clients can’t set one on any route', async (t) => {
  const { gateway, grafana, other, spoofed } = await scene(t);
  await gateway.api.send({ path: '/api/app/open', headers: spoofed });
  await gateway.api.send({
    method: 'OPTIONS',
    path: '/api/app/cors',
    bearer: gateway.bearer,
    headers: { ...spoofed, origin: 'https://a.example', 'access-control-request-method': 'PUT' },
  });
  await gateway.api.send({ path: '/api/other', bearer: gateway.bearer, headers: spoofed });
  t.equal(grafana.seen.length, 2);
  t.equal(other.seen.length, 1);
  for (const seen of [...grafana.seen, ...other.seen]) {
    for (const name of ['remote-user', 'x-webauth-user', 'x-webauth-role', 'x-forwarded-user'])
      t.same(seen.values(name), [], `${seen.target} ${name}`);
    t.notMatch(JSON.stringify(seen), /evil/);
  }
});
