import t from 'tap';
import { createCommandFolder } from '../support/gateway/command.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';

t.test('two tenants with one address would share users and keys: the second is refused', async (t) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t);
  const folderOf = (tenant: string, query: string) =>
    createCommandFolder(t, {
      tenant,
      stores: { records: `${server.url}${query}`, sessions: 'sqlite:sessions.db' },
    });
  t.equal((await folderOf('acme', '').run(['user', 'list', '--create'])).code, 0);
  const { code, stderr } = await folderOf('beta', '').run(['user', 'list', '--create']);
  t.equal(code, 1);
  t.match(stderr, /stores\.records: belongs to tenant acme/);
  t.equal((await folderOf('beta', '?schema=beta').run(['user', 'list', '--create'])).code, 0);
  t.equal((await folderOf('acme', '').run(['user', 'list', '--create'])).code, 0);
});
