import t from 'tap';
import { isBoundTo, SignInStarts } from '../../src/identity-providers/sign-in-start.ts';

const secret = Buffer.alloc(32, 7);
const starts = new SignInStarts(secret);
const begun = { provider: 'idp', returnTo: '/inbox?a=ä', expires: 1_000 };
const start = starts.begin(begun);

t.test('a start is recognised by its ticket, also in another process', (t) => {
  t.strictSame(starts.open(start.ticket), start);
  t.strictSame(new SignInStarts(secret).open(start.ticket), start);
  t.match(start, { provider: 'idp', returnTo: '/inbox?a=ä', expires: 1_000 });
  t.equal(starts.open(starts.begin({ ...begun, returnTo: null }).ticket)?.returnTo, null);
  t.end();
});

t.test('a start keeps the host to which it leads', (t) => {
  const towardsHost = { address: 'https://wiki.example/a?b=ä#c', start: 'x'.repeat(43), isAgain: true };
  const led = starts.begin({ ...begun, returnTo: null, towardsHost });
  t.strictSame(starts.open(led.ticket), led);
  t.strictSame(led.towardsHost, towardsHost);
  t.equal(start.towardsHost, null);
  t.end();
});

t.test('a ticket that was sealed before starts could lead to hosts is opened', (t) => {
  const ticket =
    'RJaG1aLtPXneatzDMSZurVb9obxMGwcA3Kac1gXsgyZa6LZ70gicWsgXg1VzPBRrlCCGj77HxbwSRZivP31UAODaEi7q7AdO';
  t.match(starts.open(ticket), {
    provider: 'pages staff',
    expires: 1_800_000_000_000,
    returnTo: '/app?x=1',
    towardsHost: null,
  });
  t.end();
});

t.test('its values fit their parameters', (t) => {
  t.match(start.ticket, /^[\w-]{70,200}$/);
  t.match(start.binding, /^[\w-]{43}$/);
  t.equal(start.label, start.id.slice(0, 6));
  t.match(start.companion, /^[\w-]{43}$/);
  t.match(start.codeVerifier, /^[\w-]{43}$/, 'RFC 7636 §4.1: 43 to 128 characters');
  const other = starts.begin(begun);
  for (const name of ['id', 'label', 'ticket', 'binding', 'companion', 'codeVerifier'] as const)
    t.not(start[name], other[name]);
  t.equal(
    new Set([start.id, start.binding, start.companion, start.codeVerifier, start.ticket]).size,
    5,
    'no value shows another',
  );
  t.notMatch(Buffer.from(start.ticket, 'base64url').toString('latin1'), /idp|inbox/, 'nobody reads it');
  t.end();
});

const bytes = Buffer.from(start.ticket, 'base64url');
const refused: Record<string, string> = {
  'the empty text': '',
  'a text of somebody else': 'n-0S6_WzA2Mj',
  'only its id': start.id,
  'its companion': start.companion,
  'its binding': start.binding,
  'a ticket cut short': bytes.subarray(0, -1).toString('base64url'),
  'a ticket with a byte more': Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64url'),
  'the id of another start': Buffer.concat([
    Buffer.from(starts.begin(begun).id, 'base64url'),
    bytes.subarray(16),
  ]).toString('base64url'),
  'a padded ticket': `${start.ticket}=`,
  'a ticket with a space': ` ${start.ticket}`,
  'another secret’s': new SignInStarts(Buffer.alloc(32, 8)).begin(begun).ticket,
  'a very long text': 'A'.repeat(1_000_000),
};
for (const [name, ticket] of Object.entries(refused)) {
  t.test(`no ticket: ${name}`, (t) => {
    t.equal(starts.open(ticket), undefined);
    t.end();
  });
}

t.test('any changed bit makes a ticket invalid', (t) => {
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = changed[bit >> 3]! ^ (1 << (bit & 7));
    if (starts.open(changed.toString('base64url')) !== undefined) t.fail(`bit ${bit}`);
  }
  t.end();
});

t.test('a start belongs to the browser with its binding, whatever other cookies it has', (t) => {
  const { binding } = start;
  const other = starts.begin(begun).binding;
  t.equal(isBoundTo(start, [binding]), true);
  t.equal(isBoundTo(start, [other, binding, '']), true, 'one of them was planted');
  t.equal(isBoundTo(start, []), false);
  for (const bad of [other, '', 'x', `${binding}x`, `"${binding}"`, ` ${binding}`, binding.slice(1)])
    t.equal(isBoundTo(start, [bad]), false);
  for (const public_ of [start.id, start.companion, start.ticket, start.codeVerifier])
    t.equal(isBoundTo(start, [public_]), false);
  t.end();
});

t.test('a short secret is refused', (t) => {
  t.throws(() => new SignInStarts(Buffer.alloc(31)), RangeError);
  t.end();
});
