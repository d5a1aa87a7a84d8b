import t from 'tap';
import { HostCodes } from '../../src/credentials/host-code.ts';
import { SignInStarts } from '../../src/identity-providers/sign-in-start.ts';

const secret = Buffer.alloc(32, 7);
const codes = new HostCodes(secret);
const about = {
  sessionId: '019a9c5e-7d1b-7c44-9c3a-5f0d0a7e21b4',
  host: 'wiki.example',
  start: 'x'.repeat(43),
  path: '/a?b=ä#c',
  isAgain: true,
  expires: 1_000,
};
const code = codes.write(about);

t.test('a code is opened by every process with the secret, expired or not', (t) => {
  const opened = codes.open(code)!;
  t.strictSame(opened, { ...about, id: opened.id });
  t.match(opened.id, /^[\w-]{22}$/);
  t.strictSame(new HostCodes(secret).open(code), opened);
  t.not(codes.open(codes.write(about))?.id, opened.id);
  t.ok(codes.write({ ...about, path: `/${'x'.repeat(2_047)}` }).length < 4_000, 'it fits an address');
  t.notMatch(Buffer.from(code, 'base64url').toString('latin1'), /wiki|019a|xxx/, 'nothing of it can be read');
  t.end();
});

t.test('nothing else is a code', (t) => {
  const bytes = Buffer.from(code, 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    t.equal(codes.open(changed.toString('base64url')), undefined, `byte ${at}`);
  }
  for (let length = 0; length < bytes.length; length += 7)
    t.equal(codes.open(bytes.subarray(0, length).toString('base64url')), undefined, `${length} bytes`);
  const starts = new SignInStarts(secret);
  const { ticket } = starts.begin({ provider: 'idp', returnTo: '/', expires: 1_000 });
  const others: Record<string, string> = {
    'another spelling': `${code}=`,
    'a space': ` ${code}`,
    'a code under another secret': new HostCodes(Buffer.alloc(32, 8)).write(about),
    'a ticket of a start at a provider': ticket,
    'a long text': 'A'.repeat(20_000),
    'the empty text': '',
  };
  for (const [what, text] of Object.entries(others)) t.equal(codes.open(text), undefined, what);
  t.equal(starts.open(code), undefined, 'nor is a code a ticket');
  t.throws(() => new HostCodes(Buffer.alloc(31)), RangeError);
  t.end();
});
