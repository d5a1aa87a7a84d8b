import t from 'tap';
import { endSession } from '../../src/administration/sessions.ts';

t.test('a session that another gateway has ended ends what is in flight here', async (t) => {
  const told: string[] = [];
  const ended = await endSession(
    {
      sessions: { revoke: async () => undefined },
      onCredentialEnded: (id: string) => told.push(id),
    } as never,
    'session',
    'http' as never,
    () => t.fail('no event is recorded a second time') as never,
  );
  t.equal(ended, undefined);
  t.strictSame(told, ['session']);
});
