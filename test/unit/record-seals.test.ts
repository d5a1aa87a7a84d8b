import t from 'tap';
import { createRecordSeals, isSealed } from '../../src/stores/record-seals.ts';

const key = { id: 'k1', key: Buffer.alloc(32, 1) };
const use = { purpose: 'cookie key', id: 'kid' };
const seals = createRecordSeals('acme', [key]);
const sealed = seals.seal(use, 'geheim');

t.test('a value is read back, and never stored in the same way twice', (t) => {
  t.equal(seals.open(use, sealed), 'geheim');
  t.ok(isSealed(sealed));
  t.notMatch(sealed, 'geheim');
  t.not(seals.seal(use, 'geheim'), sealed);
  t.equal(seals.open(use, seals.seal(use, '')), '', 'an empty one, too');
  t.end();
});

t.test('a value counts in its own place alone', (t) => {
  for (const other of [
    { ...use, purpose: 'access-token key' },
    { ...use, id: 'other' },
    { purpose: 'cookie', id: 'key kid' },
  ])
    t.throws(() => seals.open(other, sealed), /can't be decrypted with the key "k1"/);
  const renamed = createRecordSeals('acme', [{ ...key, id: 'k2' }]);
  t.throws(() => renamed.open(use, sealed.replace('k1', 'k2')), /can't be decrypted with the key "k2"/);
  t.throws(() => createRecordSeals('other', [key]).open(use, sealed), /can't be decrypted/);
  t.end();
});

t.test('a value that was changed is refused, and no message holds it', (t) => {
  const [head, text] = [
    sealed.slice(0, sealed.lastIndexOf(':') + 1),
    sealed.slice(sealed.lastIndexOf(':') + 1),
  ];
  const bytes = Buffer.from(text, 'base64url');
  const changed = [...bytes.keys()].map((index) => {
    const copy = Buffer.from(bytes);
    copy[index]! ^= 1;
    return copy;
  });
  for (const each of [...changed, bytes.subarray(0, -1), bytes.subarray(0, 27), Buffer.from('x')]) {
    const stored = `${head}${each.toString('base64url')}`;
    t.throws(() => seals.open(use, stored), {
      name: 'SealError',
      message: /^holds a cookie key \(kid\) that can't/,
    });
  }
  for (const stored of ['sealed:', 'sealed:k1', 'sealed:k1:', 'sealed:k1:%', 'sealed::AAAA'])
    t.throws(() => seals.open(use, stored), /is damaged/);
  t.end();
});

t.test('the first key encrypts, and all of them decrypt', (t) => {
  const second = { id: 'k2', key: Buffer.alloc(32, 2) };
  const both = createRecordSeals('acme', [second, key]);
  t.equal(both.open(use, sealed), 'geheim');
  t.notOk(both.isCurrent(sealed));
  const fresh = both.seal(use, 'geheim');
  t.ok(both.isCurrent(fresh));
  t.throws(() => seals.open(use, fresh), /"k2", which stores.records_encryption doesn't have/);
  t.end();
});

t.test('without keys values are stored as they are', (t) => {
  const none = createRecordSeals('acme', []);
  t.equal(none.seal(use, 'geheim'), 'geheim');
  t.equal(none.open(use, 'geheim'), 'geheim');
  t.ok(none.isCurrent('geheim'));
  t.notOk(none.isCurrent(sealed));
  t.notOk(seals.isCurrent('geheim'), 'which is not how they are to be with one');
  t.end();
});
