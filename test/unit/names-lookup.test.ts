import type { LookupAddress } from 'node:dns';
import t from 'tap';
import { createLookup } from '../../src/names/lookup.ts';
import { NameError } from '../../src/names/name-error.ts';
import type { OnAddresses } from '../../src/names/names.ts';

type Found = { readonly error: Error | null; readonly addresses: string | LookupAddress[] };

function lookUp(lookup: ReturnType<typeof createLookup>, options: object): Promise<Found> {
  return new Promise((resolve) => {
    lookup('a', options, (error, addresses) => resolve({ error, addresses }));
  });
}

const found: { find: (host: string, done: OnAddresses) => () => void } = {
  find(_host, done) {
    done(null, ['fd00::1', '10.0.0.1', '10.0.0.2']);
    return () => {};
  },
};
const six = { address: 'fd00::1', family: 6 };
const four = { address: '10.0.0.1', family: 4 };
const other = { address: '10.0.0.2', family: 4 };

t.test('each lookup of all addresses begins with another one', async (t) => {
  const lookup = createLookup(found, 1_000);
  const all = async () => (await lookUp(lookup, { all: true })).addresses;
  t.strictSame(await all(), [six, four, other]);
  t.strictSame(await all(), [four, other, six]);
  t.strictSame(await all(), [other, six, four]);
  t.strictSame(await all(), [six, four, other]);
});

t.test('a lookup may ask for one family, or one address', async (t) => {
  t.strictSame((await lookUp(createLookup(found, 1_000), { all: true, family: 4 })).addresses, [four, other]);
  t.strictSame((await lookUp(createLookup(found, 1_000), { all: true, family: 'IPv6' })).addresses, [six]);
  t.equal((await lookUp(createLookup(found, 1_000), { family: 4 })).addresses, '10.0.0.1');
});

t.test('an error is passed on', async (t) => {
  const none = {
    find(_host: string, done: OnAddresses) {
      done(new NameError('ENOTFOUND', 'a'), []);
      return () => {};
    },
  };
  t.match((await lookUp(createLookup(none, 1_000), { all: true })).error, { code: 'ENOTFOUND' });
});

t.test('who waits in vain is told why', async (t) => {
  let isWithdrawn = false;
  const silent = {
    find: () => () => {
      isWithdrawn = true;
    },
  };
  t.match((await lookUp(createLookup(silent, 5), { all: true })).error, {
    code: 'EAI_AGAIN',
    message: 'name servers unavailable for a (no response)',
  });
  t.ok(isWithdrawn);
});
