import t from 'tap';
import { addUser, changeUser } from '../support/accounts.ts';
import { startTestGateway } from '../support/gateway.ts';

const path = '/api/login/access-token';
const password = 'nanoseconds are this long';
const rounds = 9;

t.test('unknown, disabled and over-long take as long as a wrong password', async (t) => {
  // Some 30 ms a hash, as no other work of a sign-in comes near; the user's own is made anew at this cost.
  const config = {
    passwords: { memory: '19MiB', iterations: 2 },
    login_throttle: { per_account_and_address: 100, per_account: 100, per_address: 1000 },
  };
  const { api, folder } = await startTestGateway(t, { config });
  await addUser(folder, { username: 'grace', password });
  const disabled = await addUser(folder, { username: 'disabled', password });
  for (const username of ['grace', 'disabled']) await api.signIn(username, password);
  await changeUser(folder, disabled.id, { disabled: true });

  const attempts = {
    wrong: { username: 'grace', password: 'nanoseconds are that long' },
    unknown: { username: 'nobody', password },
    disabled: { username: 'disabled', password },
    overLong: { username: 'grace', password: 'x'.repeat(2000) },
    unknownOverLong: { username: 'nobody', password: 'x'.repeat(2000) },
  };
  // The quickest of several: what else runs on the machine only ever makes them slower.
  const quickest: Record<string, number> = {};
  for (let round = 0; round < rounds; round++)
    for (const [kind, form] of Object.entries(attempts)) {
      const started = performance.now();
      const { status } = await api.send({ method: 'POST', path, form });
      quickest[kind] = Math.min(quickest[kind] ?? Number.POSITIVE_INFINITY, performance.now() - started);
      t.equal(status, 401, kind);
    }
  const { wrong, ...others } = quickest;
  for (const [kind, took] of Object.entries(others))
    t.ok(
      took > wrong! * 0.7 && took < wrong! * 1.4,
      `${kind}: ${took.toFixed(1)} ms, wrong: ${wrong!.toFixed(1)}`,
    );
});
