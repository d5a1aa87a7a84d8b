import t from 'tap';
import { createCommandFolder } from '../support/gateway/command.ts';

// `serve` retries for 30 s.
t.setTimeout(600_000);

t.test('records on an unavailable server are one sentence, without the password', async (t) => {
  const records = 'postgres://:s3cr3t-word@127.0.0.1:1/postern';
  const { run } = createCommandFolder(t, { stores: { records, sessions: 'sqlite:sessions.db' } });
  t.equal((await run(['check'])).code, 0);
  const place = 'postgres://127.0.0.1:1/postern?schema=postern';
  const reason = 'connect ECONNREFUSED 127.0.0.1:1';
  const commands = [
    ['user', 'list'],
    ['backup', 'copy.db'],
    ['records', 'copy', '--to', 'sqlite:copy.db'],
  ];
  const results = await Promise.all([['serve'], ...commands].map((args) => run(args)));
  for (const { code, stderr } of results) {
    t.equal(code, 1);
    t.equal(stderr, `postern: stores.records ${place}: can't be reached (${reason})\n`);
  }
});
