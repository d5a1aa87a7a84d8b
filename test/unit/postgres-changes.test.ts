import t from 'tap';
import { changeChannel, formatHints, parseChange } from '../../src/stores/postgres/changes.ts';

const many = Array.from({ length: 300 }, (_, index) => `0190a1b2-c3d4-7e5f-8a9b-${index}`);

t.test('what is told is read again', async (t) => {
  const changes = [
    { users: ['a', 'b'], keys: [] },
    { users: ['a'], keys: ['k', 'l'] },
  ];
  t.equal(formatHints(changes), 'user:a user:b key:k key:l');
  t.strictSame(parseChange(`7 ${formatHints(changes)}`), {
    version: 7,
    change: { users: ['a', 'b'], keys: ['k', 'l'] },
  });
});

t.test('more than fits into a notification is anything', async (t) => {
  t.equal(formatHints([{ users: [], keys: many }]), '*');
  t.strictSame(parseChange('7 *'), { version: 7, change: null });
});

t.test('an id that could not be read again is anything', async (t) => {
  t.equal(formatHints([{ users: ['a key:b'], keys: [] }]), '*');
});

t.test('what a later version of this program tells is anything', async (t) => {
  t.strictSame(parseChange('7 key:k planet:p'), { version: 7, change: null });
});

for (const payload of ['', '7', '7 ', 'x key:k', '-1 *', ' 7 *', '1e3 *', `${'9'.repeat(20)} *`]) {
  t.equal(parseChange(payload), undefined, `not ours: ${JSON.stringify(payload)}`);
}

t.test('every schema has a channel of its own, as long as names may be', async (t) => {
  t.equal(changeChannel('tenant'), 'postern:tenant');
  const [one, other] = ['a', 'b'].map((last) => changeChannel('s'.repeat(62) + last));
  t.not(one, other);
  t.ok(one!.length <= 63);
});
