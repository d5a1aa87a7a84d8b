import t from 'tap';
import { CountedRefusals } from '../../src/runtime/counted-refusals.ts';
import type { AuditDraft } from '../../src/stores/audit.ts';

const start = 1_000_000;

/** A counter with a clock in the hand, and what each of its windows came to. */
function createCounter() {
  let time = start;
  const windows: (readonly AuditDraft[])[] = [];
  const refusals = new CountedRefusals(
    () => time,
    (lines) => windows.push(lines),
  );
  return {
    refusals,
    windows,
    advance(milliseconds: number) {
      time += milliseconds;
    },
  };
}

const countOf = (lines: readonly AuditDraft[]) =>
  lines.reduce((sum, { repeated }) => sum + (repeated?.count ?? 0), 0);

t.test('refusals of an address and code are one line, with its first and last', async (t) => {
  const { refusals, windows, advance } = createCounter();
  refusals.count('invalid_api_key', '192.0.2.1');
  advance(10_000);
  refusals.count('invalid_api_key', '192.0.2.1');
  refusals.count('insufficient_scope', '192.0.2.1');
  refusals.count('invalid_api_key', '192.0.2.2');
  advance(49_999);
  refusals.endWindow();
  t.strictSame(windows, [], 'not before the minute is over');
  advance(1);
  refusals.endWindow();
  t.equal(windows.length, 1);
  const line = {
    event: 'request_refused',
    outcome: 'failure',
    actor: { user: null, kind: 'anonymous' },
    subject: null,
    target: null,
    changes: null,
    requestId: null,
  };
  const later = { count: 1, first: start + 10_000, last: start + 10_000 };
  t.strictSame(
    windows[0]!.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
    [
      { ...line, reason: 'insufficient_scope', address: '192.0.2.1', repeated: later },
      {
        ...line,
        reason: 'invalid_api_key',
        address: '192.0.2.1',
        repeated: { count: 2, first: start, last: start + 10_000 },
      },
      { ...line, reason: 'invalid_api_key', address: '192.0.2.2', repeated: later },
    ],
  );
  advance(60_000);
  refusals.endWindow();
  t.equal(windows.length, 1, 'a minute without refusals has no line');
});

t.test('only 401, 403 and 429 are counted', async (t) => {
  const { refusals, windows } = createCounter();
  for (const code of ['bad_request', 'not_found', 'conflict', 'store_unavailable', 'ok', 'client_aborted'])
    refusals.count(code, '192.0.2.1');
  refusals.flush();
  t.strictSame(windows, []);
  for (const code of ['not_authenticated', 'insufficient_scope', 'too_many_attempts'])
    refusals.count(code, '192.0.2.1');
  refusals.flush();
  t.equal(windows[0]?.length, 3);
});

t.test('failed sign-ins and activations keep the name they have in the log', async (t) => {
  const { refusals, windows } = createCounter();
  for (const code of ['invalid_credentials', 'invalid_assertion', 'invalid_bootstrap_token'])
    refusals.count(code, '192.0.2.1');
  refusals.flush();
  const events = windows[0]!.map(({ event, reason }) => `${event} ${reason}`).sort();
  t.strictSame(events, [
    'activation_failed invalid_bootstrap_token',
    'login_failed invalid_assertion',
    'login_failed invalid_credentials',
  ]);
});

t.test('IPv6 is counted by /64', async (t) => {
  const { refusals, windows } = createCounter();
  for (const address of ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'])
    refusals.count('invalid_token', address);
  refusals.flush();
  t.match(windows[0], [
    { address: '2001:db8:1:2::/64', repeated: { count: 2 } },
    { address: '2001:db8:1:3::/64', repeated: { count: 1 } },
  ]);
});

t.test('a peer without an address has a line, too', async (t) => {
  const { refusals, windows } = createCounter();
  refusals.count('invalid_token', '');
  refusals.flush();
  t.match(windows[0], [{ address: null, reason: 'invalid_token', repeated: { count: 1 } }]);
});

t.test('a flood from many addresses makes 300 events, and every refusal is counted', async (t) => {
  const { refusals, windows } = createCounter();
  const flood = 5_000;
  for (let index = 0; index < flood; index += 1)
    refusals.count(index % 2 ? 'invalid_token' : 'invalid_api_key', `10.0.${index >> 8}.${index & 255}`);
  for (let index = 0; index < 10; index += 1) refusals.count('invalid_api_key', '10.0.0.0');
  refusals.flush();
  const lines = windows[0]!;
  t.equal(lines.length, 300);
  t.equal(countOf(lines), flood + 10);
  const others = lines.filter(({ address }) => address === null);
  t.match(others, [{ event: 'request_refused', reason: undefined, repeated: { count: flood - 299 } }]);
  t.match(
    lines.find(({ address }) => address === '10.0.0.0'),
    { repeated: { count: 11 } },
    'an address that has a line keeps it',
  );
  refusals.count('invalid_token', '10.9.9.9');
  refusals.flush();
  t.match(windows[1], [{ address: '10.9.9.9' }], 'the next minute begins anew');
});
