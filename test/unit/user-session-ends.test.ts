import t from 'tap';
import { endSessions, type SessionEndParts } from '../../src/administration/sessions.ts';
import { Refusal } from '../../src/errors.ts';

type Arguments = Parameters<typeof endSessions>;
const by: Arguments[1] = {
  actor: { user: 'admin', session: 'own', kind: 'session' },
  origin: { address: null, requestId: null },
};

function setUp(revokeAllOf: () => Promise<readonly string[]>) {
  const ended: string[] = [];
  const audited: unknown[] = [];
  const options = {
    sessions: { revokeAllOf },
    onCredentialEnded: (id: string) => void ended.push(id),
    audit: { record: (_: unknown, event: unknown) => void audited.push(event) },
  } as unknown as SessionEndParts;
  return { ended, audited, end: () => endSessions(options, by, 'user') };
}

t.test('every session that ended is audited, and its streams end', async (t) => {
  const { end, ended, audited } = setUp(async () => ['one', 'two']);
  await end();
  t.strictSame(ended, ['one', 'two']);
  t.match(audited, [{ session: 'one', subject: 'user' }, { session: 'two' }]);
});

t.test('an unavailable session store holds nothing up: by their epoch the sessions have ended', async (t) => {
  const { end, audited } = setUp(async () => {
    throw new Refusal('store_unavailable');
  });
  await end();
  t.strictSame(audited, []);
});

t.test('any other failure is reported', async (t) => {
  const { end } = setUp(async () => {
    throw new TypeError('a fault');
  });
  await t.rejects(end(), { message: 'a fault' });
});
