import t from 'tap';
import { auditProblems } from '../support/administration/audit-conformity.ts';

const good = {
  audit: true,
  id: 'e',
  event: 'user_changed',
  target: { type: 'user', id: 'u' },
  changes: { fields: ['email'] },
};

t.test('audit lines as documented are no problem', async (t) => {
  const others = [{ msg: 'request' }, { audit: true, event: 'login_failed' }];
  t.strictSame(auditProblems([good, { ...good, changes: undefined }, ...others]), []);
});

t.test('another event, target or change is one', async (t) => {
  const rows = [
    [{ ...good, event: 'user_teased' }, 'user_teased: is not documented'],
    [{ ...good, target: undefined }, 'user_changed: its target is null instead of user'],
    [{ ...good, event: 'user_disabled' }, 'user_disabled: fields among its changes'],
    [{ audit: true, id: 'e', event: 'login_failed' }, 'login_failed: is in the records, under an id'],
  ] as const;
  for (const [line, problem] of rows) t.strictSame(auditProblems([line]), [problem]);
});
