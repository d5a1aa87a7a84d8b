import t from 'tap';
import { KeyPrefixes } from '../../src/credentials/key-prefixes.ts';

/** Records that respond when they are told to, with the prefixes that they had when they were asked. */
function createSlowRecords() {
  let version = 1;
  const prefixes = ['pst'];
  const asked: (() => void)[] = [];
  return {
    version: () => version,
    apiKeyPrefixes() {
      const found = [...prefixes];
      return new Promise<readonly string[]>((resolve) => asked.push(() => resolve(found)));
    },
    add(prefix: string) {
      prefixes.push(prefix);
      version += 1;
    },
    asked,
  };
}

t.test(
  'a request waits for a reading that began after the change it saw, and all for the same one',
  async (t) => {
    const records = createSlowRecords();
    const known = new KeyPrefixes(records);
    const first = known.read();
    records.asked.shift()!();
    await first;
    t.equal(known.catchUp(), null, 'nothing has changed');

    records.add('aa');
    const early = known.catchUp();
    records.add('bb');
    const late = [known.catchUp(), known.catchUp()];
    records.asked.shift()!();
    await early;
    t.strictSame([known.has('aa'), known.has('bb')], [true, false]);
    await new Promise((resolve) => setImmediate(resolve));
    t.equal(records.asked.length, 1, 'one further reading for both');
    records.asked.shift()!();
    await Promise.all(late);
    t.ok(known.has('bb'));
    t.equal(known.catchUp(), null);
    t.equal(records.asked.length, 0);
  },
);

t.test('a reading that fails leaves what is known', async (t) => {
  let version = 1;
  const known = new KeyPrefixes({
    version: () => version,
    apiKeyPrefixes: async () => {
      if (version > 1) throw new Error('away');
      return ['pst'];
    },
  });
  await known.read();
  version += 1;
  await known.catchUp();
  t.ok(known.has('pst'));
});
