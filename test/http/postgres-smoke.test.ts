import t from 'tap';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway.ts';
import { requirePostgres } from '../support/postgres-programs.ts';
import { startPostgres } from '../support/postgres-server.ts';

if (requirePostgres(t)) {
  const server = await startPostgres(t);
  t.test('a gateway with its records in PostgreSQL', async (t) => {
    const gateway = await startTestGateway(t, { config: { stores: { records: server.url, sessions: 'sqlite:sessions.db' } } });
    const { username, password } = administrator;
    await gateway.api.activate(username, password, bootstrapToken);
    const { accessToken } = await gateway.api.signIn(username, password);
    const { key } = await gateway.api.mintKey(accessToken, { label: 'k', scopes: ['store:read'] });
    const answer = await fetch(`http://127.0.0.1:${gateway.port}/api/x`, { headers: { 'X-API-Key': key } });
    t.equal(answer.status, 200);
  });
}
