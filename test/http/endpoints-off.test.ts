import t from 'tap';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';

/** A path of each endpoint that may be off, with a method that it serves. */
const paths: Readonly<Record<string, readonly (readonly [method: string, path: string])[]>> = {
  self: [
    ['GET', '/api/self'],
    ['GET', '/api/self/settings'],
  ],
  self_sessions: [['GET', '/api/self/sessions']],
  self_password: [['PUT', '/api/self/password']],
  admin_sessions: [['GET', '/api/admin/sessions/']],
  scope_sets: [
    ['GET', '/api/admin/scope-sets/'],
    ['PATCH', '/api/admin/scope-sets/x'],
  ],
  users: [
    ['GET', '/api/admin/users/'],
    ['POST', '/api/admin/users/x/invitation'],
    ['GET', '/api/admin/users/x/throttle'],
    ['POST', '/api/login/invitation'],
  ],
  audit: [['GET', '/api/admin/audit/']],
};

t.test('an endpoint that is off is 404 and never forwarded', async (t) => {
  const off = Object.fromEntries(Object.keys(paths).map((name) => [name, 'off']));
  const { api, upstream } = await startTestGateway(t, { config: { endpoints: off } });
  await api.activate(administrator.username, administrator.password, bootstrapToken);
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  for (const [method, path] of Object.values(paths).flat()) {
    const { status, json } = await api.send({ method, path, bearer, json: {} });
    t.strictSame([status, json.code], [404, 'not_found'], path);
  }
  t.strictSame(upstream.seen, []);
});

t.test('a bootstrap that is off is 404', async (t) => {
  const { api, upstream } = await startTestGateway(t, { config: { endpoints: { bootstrap: 'off' } } });
  const { username, password } = administrator;
  t.equal((await api.activate(username, password, bootstrapToken)).status, 404);
  t.strictSame(upstream.seen, []);
});

t.test('users of an upstream are forwarded whole, and invitations redeemed here', async (t) => {
  const { api, upstream } = await startTestGateway(t);
  await api.activate(administrator.username, administrator.password, bootstrapToken);
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  t.equal((await api.send({ path: '/api/admin/users/x/throttle', bearer })).status, 200);
  t.match(upstream.seen, [{ target: '/api/admin/users/x/throttle' }]);
  const json = { token: 'unknown', password: 'a password of the tests' };
  t.equal((await api.send({ method: 'POST', path: '/api/login/invitation', json })).status, 401);
});
