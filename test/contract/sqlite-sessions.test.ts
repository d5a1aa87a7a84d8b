import t from 'tap';
import { newSession, sessionTimes } from './fixtures.ts';
import { runSessionsSuite } from './sessions-suite.ts';
import { runSingleUseSuite } from './single-use-suite.ts';
import { createSqliteSessionsUnderTest } from './sqlite-stores.ts';

runSessionsSuite({ name: 'sqlite', create: createSqliteSessionsUnderTest });
runSingleUseSuite({ name: 'sqlite', create: createSqliteSessionsUnderTest });

t.test('sqlite: pruning takes all that has expired, also what one transaction leaves', async (t) => {
  const { store, advance } = createSqliteSessionsUnderTest(t);
  for (let index = 0; index < 501; index += 1) {
    await store.create(newSession(`${index}`), { ...sessionTimes, idleLifetimeMs: 10 });
  }
  await advance(10);
  t.equal(await store.prune(), 501);
});
