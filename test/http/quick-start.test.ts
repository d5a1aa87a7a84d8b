import t from 'tap';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';

t.test(
  'a person activates, signs in, mints a key, calls a service, deletes the key and signs out',
  async (t) => {
    const { api, upstream } = await startTestGateway(t);
    const { username, password } = administrator;

    const activated = await api.activate(username, password, bootstrapToken);
    t.equal(activated.status, 201);
    const { accessToken, cookie } = await api.signIn(username, password);
    const key = await api.mintKey(accessToken, { label: 'ci', scopes: ['store:read'] });

    const called = await api.send({ path: '/api/store/asset/1', apiKey: key.key });
    t.equal(called.status, 200);
    t.same(upstream.seen[0]!.values('x-auth-key-id'), [key.id]);
    t.same(upstream.seen[0]!.values('x-auth-scopes'), ['store:read']);

    const deleted = await api.send({
      method: 'DELETE',
      path: `/api/admin/api-keys/${key.id}`,
      bearer: accessToken,
    });
    t.equal(deleted.status, 204);
    t.equal((await api.send({ path: '/api/store/asset/1', apiKey: key.key })).status, 401);

    t.equal((await api.refresh(cookie)).status, 200);
    t.equal((await api.send({ path: '/api/logout', cookie })).status, 200);
    t.equal((await api.refresh(cookie)).status, 401);
    t.equal((await api.send({ path: '/api/store/asset/1', bearer: accessToken })).status, 401);
  },
);
