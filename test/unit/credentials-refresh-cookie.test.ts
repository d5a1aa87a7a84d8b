import fc from 'fast-check';
import t from 'tap';
import { createRefreshCookies } from '../../src/credentials/refresh-cookie.ts';
import { cookieSecrets } from '../support/administration/signing-keys.ts';

const secret = Buffer.alloc(32, 7);
const cookies = createRefreshCookies({ secrets: cookieSecrets(secret), tenant: 'acme', name: 'n' });
const id = '01936f2e-8b6a-7c3d-9e4f-0123456789ab';
const otherId = '01936f2e-8b6a-7c3d-9e4f-0123456789ac';
const good = cookies.write(id, 12);
const mac = good.slice(-43);
const spare = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

t.test('a written cookie reads back', (t) => {
  t.match(good, /^01936f2e-8b6a-7c3d-9e4f-0123456789ab\.12\.[A-Za-z0-9_-]{43}$/);
  fc.assert(
    fc.property(fc.uuid(), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (sessionId, generation) => {
      const read = cookies.read(cookies.write(sessionId, generation));
      return read?.sessionId === sessionId && read.generation === generation;
    }),
  );
  t.end();
});

const refused: Record<string, string> = {
  'the empty text': '',
  'no MAC': `${id}.12`,
  'an empty MAC': `${id}.12.`,
  'the MAC of another generation': `${id}.13.${mac}`,
  'the MAC of another session': `${otherId}.12.${mac}`,
  'a truncated MAC': good.slice(0, -1),
  'a MAC with a character more': `${good}A`,
  'a padded MAC': `${good}=`,
  'a MAC with its spare bits set': good.slice(0, -1) + spare[spare.indexOf(good.at(-1) ?? '') + 1],
  'a MAC in hexadecimal': `${id}.12.${Buffer.from(mac, 'base64url').toString('hex')}`,
  'a MAC of zeros': `${id}.12.${'A'.repeat(43)}`,
  'a fourth field': `${good}.x`,
  'a session id in upper case': good.replace(id, id.toUpperCase()),
  'a session id without hyphens': good.replace(id, id.replaceAll('-', '')),
  'a generation with a zero before it': good.replace('.12.', '.012.'),
  'a generation with a sign': good.replace('.12.', '.+12.'),
  'a generation in exponent notation': good.replace('.12.', '.12e0.'),
  'a generation in hexadecimal': good.replace('.12.', '.0xc.'),
  'generation zero': cookies.write(id, 0),
  'a negative generation': cookies.write(id, -1),
  'a fractional generation': cookies.write(id, 1.5),
  'a generation beyond the safe integers': cookies.write(id, 2 ** 53),
  'no generation': cookies.write(id, Number.NaN),
  'a session id that is not a UUID, with a valid MAC': cookies.write('session-1', 12),
  'a UUID in upper case, rightly authenticated': cookies.write(id.toUpperCase(), 12),
  'a space before': ` ${good}`,
  'a space behind': `${good} `,
  'a line break behind': `${good}\n`,
  'a quoted value': `"${good}"`,
  'digits of another script': good.replace('.12.', '.１２.'),
  'another tenant': createRefreshCookies({
    secrets: cookieSecrets(secret),
    tenant: 'acme2',
    name: 'n',
  }).write(id, 12),
  'another name': createRefreshCookies({ secrets: cookieSecrets(secret), tenant: 'acme', name: 'm' }).write(
    id,
    12,
  ),
  'another secret': createRefreshCookies({
    secrets: cookieSecrets(Buffer.alloc(32, 8)),
    tenant: 'acme',
    name: 'n',
  }).write(id, 12),
  'a text that is very long': `${good}${'A'.repeat(100_000)}`,
};
for (const [name, value] of Object.entries(refused)) {
  t.test(`refused: ${name}`, (t) => {
    t.equal(cookies.read(value), undefined);
    t.end();
  });
}

t.test('a changed character anywhere is refused', (t) => {
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.constantFrom(...'0189afAz-_.'), (at, other) => {
      return good[at] === other || cookies.read(good.slice(0, at) + other + good.slice(at + 1)) === undefined;
    }),
  );
  t.end();
});

t.test('the newest of several cookies of a session counts', (t) => {
  const newest = (...values: string[]) => cookies.newestOf(values);
  const write = cookies.write;
  t.strictSame(newest(), []);
  t.strictSame(newest('x'), []);
  t.strictSame(newest(write(id, 3)), [{ sessionId: id, generation: 3 }]);
  t.strictSame(newest(write(id, 3), write(id, 12), 'x', write(id, 4)), [{ sessionId: id, generation: 12 }]);
  t.strictSame(newest('', write(id, 3), `${write(otherId, 9)}x`), [{ sessionId: id, generation: 3 }]);
  t.strictSame(newest(write(id, 3), write(otherId, 4), write(id, 2), write(otherId, 5)), [
    { sessionId: id, generation: 3 },
    { sessionId: otherId, generation: 5 },
  ]);
  t.end();
});

t.test('all valid cookies are returned, whatever session they name', (t) => {
  t.strictSame(cookies.validOf([cookies.write(id, 3), 'x', cookies.write(otherId, 4)]), [
    { sessionId: id, generation: 3 },
    { sessionId: otherId, generation: 4 },
  ]);
  t.end();
});

t.test('the first of several secrets writes, and all of them read', (t) => {
  const other = Buffer.alloc(32, 8);
  const codec = (...secrets: readonly Buffer[]) =>
    createRefreshCookies({ secrets: cookieSecrets(...secrets), tenant: 'acme', name: 'n' });
  t.equal(codec(secret, other).write(id, 12), good);
  t.not(codec(other, secret).write(id, 12), good);
  t.strictSame(codec(other, secret).read(good), { sessionId: id, generation: 12 });
  t.equal(codec(other).read(good), undefined);
  t.end();
});
