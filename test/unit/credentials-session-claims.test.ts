import t from 'tap';
import { createClaimsOf } from '../../src/credentials/session-claims.ts';
import { createClaimSeals } from '../../src/credentials/session-seals.ts';
import type { LiveSession } from '../../src/stores/sessions.ts';

const seals = createClaimSeals({ secret: Buffer.alloc(32, 7), tenant: 'acme' });
const issuer = 'https://login.example.com';
const kept = [
  { name: 'dept', pointer: '/org/dept', value: 'R&D' },
  { name: 'groups', pointer: '/groups', value: ['a', 'b'] },
];
const session: LiveSession = {
  ...{ id: 's', userId: 'u', expires: 1, epoch: 0, isRestricted: false },
  origin: { provider: 'corp', issuer, subject: 'alice' },
  sealedClaims: seals.seal('s', kept),
};

/** The claims of a session under these providers. */
const claimsUnder = (providers: Parameters<typeof createClaimsOf>[0], one = session) =>
  Object.fromEntries(createClaimsOf(providers, seals)(one));
const keep = { dept: '/org/dept', groups: 'groups' };

t.test('claims count as far as provider, issuer, name and claim are configured', async (t) => {
  const all = { dept: 'R&D', groups: ['a', 'b'] };
  t.strictSame(claimsUnder({ corp: { issuer, keep } }), all);
  t.strictSame(
    claimsUnder({ corp: { issuer, keep: { ...keep, groups: '/groups' } } }),
    all,
    'the same claim',
  );
  t.strictSame(claimsUnder({ corp: { issuer, keep: { dept: '/org/dept' } } }), { dept: 'R&D' });
  t.strictSame(claimsUnder({ corp: { issuer, keep: { dept: 'dept', group: 'groups' } } }), {});
  t.strictSame(claimsUnder({ corp: { issuer: 'https://login.example.net', keep } }), {});
  t.strictSame(claimsUnder({ staff: { issuer, keep } }), {}, 'a provider with another name');
  t.strictSame(claimsUnder({}), {});
});

t.test('a session without a provider, or with what opens to nothing, has none', async (t) => {
  const providers = { corp: { issuer, keep } };
  t.strictSame(claimsUnder(providers, { ...session, origin: null }), {});
  t.strictSame(claimsUnder(providers, { ...session, sealedClaims: null }), {});
  t.strictSame(claimsUnder(providers, { ...session, id: 'another' }), {});
  t.strictSame(claimsUnder(providers, { ...session, sealedClaims: 'x' }), {});
});

t.test('they are opened once for a cached session', async (t) => {
  let count = 0;
  const claimsOf = createClaimsOf(
    { corp: { issuer, keep } },
    {
      open(...asked) {
        count += 1;
        return seals.open(...asked);
      },
    },
  );
  const first = claimsOf(session);
  t.equal(claimsOf(session), first);
  t.equal(count, 1);
  t.strictSame(claimsOf({ ...session }), first);
  t.equal(count, 2, 'once more if it was read again');
});
