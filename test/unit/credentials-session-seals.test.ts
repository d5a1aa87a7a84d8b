import t from 'tap';
import {
  createClaimSeals,
  createIdTokenSeals,
  maxIdTokenBytes,
} from '../../src/credentials/session-seals.ts';

const secret = Buffer.alloc(32, 7);
const seals = createIdTokenSeals({ secret, tenant: 'acme' });
const idToken = 'header.payload.signature';

t.test('a sealed ID token is opened for its session, in every process with the secret', async (t) => {
  const sealed = seals.seal('session', idToken)!;
  t.equal(seals.open('session', sealed), idToken);
  t.equal(createIdTokenSeals({ secret, tenant: 'acme' }).open('session', sealed), idToken);
  t.match(sealed, /^[\w-]+$/, 'it is text');
  t.notOk(Buffer.from(sealed, 'base64url').includes('payload'), 'and says nothing');
  t.not(seals.seal('session', idToken), sealed, 'nor that two are the same');
});

t.test('any other text opens to nothing', async (t) => {
  const sealed = seals.seal('session', idToken)!;
  t.equal(seals.open('another', sealed), undefined);
  t.equal(createIdTokenSeals({ secret, tenant: 'beta' }).open('session', sealed), undefined);
  t.equal(
    createIdTokenSeals({ secret: Buffer.alloc(32), tenant: 'acme' }).open('session', sealed),
    undefined,
  );
  const bytes = Buffer.from(sealed, 'base64url');
  for (const position of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed[position]! ^= 1;
    t.equal(seals.open('session', changed.toString('base64url')), undefined, `byte ${position}`);
  }
  for (const text of ['', 'x', sealed.slice(0, 37), '…', bytes.subarray(0, -1).toString('base64url')])
    t.equal(seals.open('session', text), undefined);
  t.throws(() => createIdTokenSeals({ secret: Buffer.alloc(31), tenant: 'acme' }), RangeError);
});

t.test('tokens of up to 8 KiB are kept', async (t) => {
  const longest = 'x'.repeat(maxIdTokenBytes);
  const sealed = seals.seal('session', longest)!;
  t.equal(seals.open('session', sealed), longest);
  t.ok(sealed.length <= 11_000, `${sealed.length} characters`);
  t.equal(seals.seal('session', `${longest}x`), null);
});

t.test('claims are sealed likewise, and are no ID token', async (t) => {
  const ofClaims = createClaimSeals({ secret, tenant: 'acme' });
  const claims = [
    { name: 'dept', pointer: '/org/dept', value: 'Zürich' },
    { name: 'groups', pointer: '/groups', value: ['a', 7, true] },
    { name: '__proto__', pointer: '/x', value: [] },
  ];
  const sealed = ofClaims.seal('session', claims)!;
  t.strictSame(ofClaims.open('session', sealed), claims);
  t.notOk(Buffer.from(sealed, 'base64url').includes('dept'), 'it says nothing');
  t.equal(ofClaims.open('another', sealed), undefined);
  t.equal(createClaimSeals({ secret, tenant: 'beta' }).open('session', sealed), undefined);
  t.equal(seals.open('session', sealed), undefined);
  t.equal(ofClaims.open('session', seals.seal('session', JSON.stringify(claims))!), undefined);
  t.equal(ofClaims.seal('session', []), null, 'without any there is nothing to keep');
});
