import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { createMac } from '../../src/credentials/mac.ts';

const secret = randomBytes(32);

t.test('a MAC is HMAC-SHA256 over fields prefixed with their lengths in bytes', (t) => {
  const expected = createHmac('sha256', secret).update('7:purpose1:a2:é0:').digest();
  t.strictSame(createMac(secret, 'purpose')(['a', 'é', '']), expected);
  t.end();
});

t.test('two lists never share a MAC', (t) => {
  const mac = createMac(secret, 'purpose');
  const fields = fc.array(fc.string({ unit: fc.constantFrom(...'a1:.') }), { maxLength: 4 });
  fc.assert(
    fc.property(fields, fields, (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      return mac(one).equals(mac(other)) === same;
    }),
  );
  t.notOk(mac(['ab', 'c']).equals(mac(['a', 'bc'])));
  t.notOk(mac(['a']).equals(mac(['a', ''])));
  t.end();
});

t.test('another purpose or secret yields another MAC', (t) => {
  const mac = createMac(secret, 'purpose')(['a']);
  t.notOk(createMac(secret, 'purpose2')(['a']).equals(mac));
  t.notOk(createMac(randomBytes(32), 'purpose')(['a']).equals(mac));
  t.end();
});

t.test('a secret under 32 bytes is refused', (t) => {
  t.throws(() => createMac(randomBytes(31), 'purpose'), RangeError);
  t.end();
});
