import t from 'tap';
import { createPasswordHasher } from '../../src/credentials/passwords.ts';
import { addUser, changeUser, withRecords } from '../support/administration/accounts.ts';
import { updateUser } from '../support/administration/record-changes.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';

const path = '/api/login/access-token';
const password = 'nanoseconds are this long';
const isLong = process.env.POSTERN_TEST_LONG !== undefined;
const rounds = isLong ? 30 : 5;
/**
 * How far the times may lie apart. One hash fewer is a hundredth of the time; a busy machine changes
 * them by itself, also as CPU time, so the close bounds are for the full size.
 */
const [atLeast, atMost] = isLong ? [0.7, 1.4] : [0.3, 3];

/** Tens of milliseconds a hash, as no other work of a sign-in comes near. */
const passwords = { memory: '19MiB', iterations: 1 };

t.test('unknown, disabled, over-long and an earlier cost take as long as a wrong password', async (t) => {
  const config = {
    passwords,
    login_throttle: { per_account_and_address: 100, per_account: 100, per_address: 1000 },
  };
  const { api, folder } = await startTestGateway(t, { config });
  await addUser(folder, { username: 'grace', password });
  const disabled = await addUser(folder, { username: 'disabled', password });
  // Makes their own hashes anew at this cost; those of the others stay as they are.
  for (const username of ['grace', 'disabled']) await api.signIn(username, password);
  await changeUser(folder, disabled.id, { disabled: true });
  await addUser(folder, { username: 'cheap', password });
  const dearer = createPasswordHasher({
    ...{ memoryBytes: 38 * 1024 * 1024, iterations: 1, parallelism: 1 },
    ...{ concurrency: 1, queue: 1 },
  });
  const { id } = await addUser(folder, { username: 'dear', password });
  const passwordHash = await dearer.hash(password);
  await withRecords(folder, (records) => updateUser(records, id, { passwordHash }));
  // Until now nobody could know of it.
  await api.send({ method: 'POST', path, form: { username: 'dear', password: 'not the password' } });

  const attempts = {
    wrong: { username: 'grace', password: 'nanoseconds are that long' },
    unknown: { username: 'nobody', password },
    disabled: { username: 'disabled', password },
    cheap: { username: 'cheap', password: 'nanoseconds are that long' },
    dear: { username: 'dear', password: 'nanoseconds are that long' },
    overLong: { username: 'grace', password: 'x'.repeat(2000) },
    unknownOverLong: { username: 'nobody', password: 'x'.repeat(2000) },
  };
  // CPU time of this process, the hashing threads included: the machine has other work. The least of several.
  const least: Record<string, number> = {};
  for (let round = 0; round < rounds; round++)
    for (const [kind, form] of Object.entries(attempts)) {
      const before = process.cpuUsage();
      const { status } = await api.send({ method: 'POST', path, form });
      const { user, system } = process.cpuUsage(before);
      least[kind] = Math.min(least[kind] ?? Number.POSITIVE_INFINITY, (user + system) / 1000);
      t.equal(status, 401, kind);
    }
  const { wrong, ...others } = least;
  for (const [kind, took] of Object.entries(others))
    t.ok(
      took > wrong! * atLeast && took < wrong! * atMost,
      `${kind}: ${took.toFixed(1)} ms, wrong: ${wrong!.toFixed(1)}`,
    );
});
