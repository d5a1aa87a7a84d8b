import t from 'tap';
import {
  changeChannel,
  formatHints,
  notifiedHints,
  parseHints,
  parseNotification,
} from '../../src/stores/postgres/changes.ts';

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => `0190a1b2-c3d4-7e5f-8a9b-${String(index).padStart(12, '0')}`);

t.test('formatted hints can be parsed', async (t) => {
  const changes = [
    { users: ['a', 'b'], keys: [] },
    { users: ['a'], keys: ['k', 'l'], newKeys: ['n'] },
  ];
  const hints = formatHints(changes);
  t.equal(hints, 'user:a user:b key:k key:l new-key:n');
  t.strictSame(parseNotification(`7 ${hints}`), { version: 7, hints });
  t.strictSame(parseHints(hints), { users: ['a', 'b'], keys: ['k', 'l'], newKeys: ['n'] });
});

t.test('hints too long for a notification are logged whole', async (t) => {
  const hints = formatHints([{ users: [], keys: many(300) }]);
  t.equal(parseHints(hints)?.keys.length, 300);
  t.equal(notifiedHints(hints), '*');
  t.equal(parseHints(notifiedHints(hints)), null);
});

t.test('more hints than are cached mean that anything may have changed', async (t) => {
  t.equal(formatHints([{ users: [], keys: many(30_000) }]), '*');
});

t.test('an id that could not be parsed means that anything may have changed', async (t) => {
  t.equal(formatHints([{ users: ['a key:b'], keys: [] }]), '*');
});

t.test('a hint of a later version means that anything may have changed', async (t) => {
  t.equal(parseHints('key:k planet:p'), null);
});

for (const payload of ['', '7', '7 ', 'x key:k', '-1 *', ' 7 *', '1e3 *', `${'9'.repeat(20)} *`]) {
  t.equal(parseNotification(payload), undefined, `not ours: ${JSON.stringify(payload)}`);
}

t.test('every schema has a channel of its own, as long as names may be', async (t) => {
  t.equal(changeChannel('tenant'), 'postern:tenant');
  const [one, other] = ['a', 'b'].map((last) => changeChannel('s'.repeat(62) + last));
  t.not(one, other);
  t.ok(one!.length <= 63);
});
