import t from 'tap';
import { automatic } from '../../src/administration/caller.ts';
import { type EndSessionParts, endSession } from '../../src/administration/sessions.ts';

t.test('a session that another gateway has ended ends what is in flight here', async (t) => {
  const told: string[] = [];
  const parts: EndSessionParts = {
    sessions: { revoke: async () => undefined },
    records: { findUser: () => t.fail('nobody is looked up') as never },
    onCredentialEnded: (id) => told.push(id),
    audit: null as never,
  };
  t.equal(
    await endSession(parts, 'session', automatic.origin, ({ userId }) => t.fail(userId) as never),
    undefined,
  );
  t.strictSame(told, ['session']);
});
