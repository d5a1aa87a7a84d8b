import t from 'tap';
import { Audit } from '../../src/administration/audit.ts';
import type { Call } from '../../src/endpoints/endpoint.ts';
import { type ProviderExchangeParts, providerExchange } from '../../src/endpoints/provider-exchange.ts';
import { ProviderSignIn, type ProviderSignInOptions } from '../../src/endpoints/provider-sign-in.ts';
import { Refusal } from '../../src/errors.ts';
import type { AuditOf } from '../../src/stores/audit.ts';

/** The GET endpoint over an account that may change once the session is created, and what became of that session. */
function setUp(maySignIn: () => Promise<boolean>) {
  const events: (string | undefined)[] = [];
  const user = { id: 'user-1', disabled: false };
  const parts = {
    provider: {
      name: 'idp',
      response: 'id_token',
      redeem: async () => ({ issuer: 'i', subject: 's', start: null, claims: { kept: [], leftOut: [] } }),
    },
    accounts: { accept: async () => ({ found: { user }, before: { user } }), maySignIn },
    signIn: {
      start: async () => ({
        session: { id: 'session-1', userId: user.id },
        reply: { status: 200, body: {} },
      }),
      cancel: async ({ id }: { id: string }) => void events.push(`cancelled ${id}`),
    },
    records: {
      async keepSignIn({ userId }: { userId: string }, { drafts, onWritten }: AuditOf<void>) {
        events.push(`login of ${userId} noted`);
        onWritten(drafts());
      },
    },
    audit: new Audit({
      log: {
        audit: ({ event, reason }) => void events.push(event, ...(reason === undefined ? [] : [reason])),
      },
      keep() {},
      now: () => 0,
    }),
    now: () => 0,
  };
  const providerSignIn = new ProviderSignIn(parts as unknown as ProviderSignInOptions);
  const handle = providerExchange.create({ ...parts, providerSignIn } as unknown as ProviderExchangeParts);
  const exchange = { query: 'assertion=a', head: { cookie: '', userAgent: '' } };
  const call = { exchange, principal: null, id: '', body: Buffer.alloc(0) };
  return { events, handle: () => handle(call as unknown as Call<'open'>) };
}

t.test('a session is handed over if its account may sign in', async (t) => {
  const { handle, events } = setUp(async () => true);
  t.match(await handle(), { status: 200 });
  t.strictSame(events, ['login of user-1 noted', 'login_succeeded']);
});

t.test('a session created for a user disabled in the meantime is revoked', async (t) => {
  const { handle, events } = setUp(async () => false);
  await t.rejects(handle(), { code: 'user_not_provisioned' });
  t.strictSame(events, ['login_failed', 'disabled or unlinked in the meantime', 'cancelled session-1']);
});

t.test('a session whose account can not be checked again is revoked, without a failed sign-in', async (t) => {
  const { handle, events } = setUp(async () => {
    throw new Refusal('store_unavailable');
  });
  await t.rejects(handle(), { code: 'store_unavailable' });
  t.strictSame(events, ['cancelled session-1']);
});
