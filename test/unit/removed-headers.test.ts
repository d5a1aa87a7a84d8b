import t from 'tap';
import { createPassedMeaning } from '../../src/http/header-names.ts';
import { findRemoved, removedHeaders, removedKinds } from '../../src/http/removed-headers.ts';
import { readRequestHead } from '../../src/http/request-head.ts';
import { RemovedHeaderCounts, RemovedHeaderLines } from '../../src/runtime/removed-headers.ts';

const strict = createPassedMeaning({ passOddNames: false, passMethodOverride: false, dropped: ['X-Secret'] });

/** The names and kinds of what is removed from a request with these headers, each of value `v`. */
function removedFrom(names: readonly string[], isIdentified = false, passedMeaning = strict) {
  const head = readRequestHead(names.flatMap((name) => [name, 'v']));
  const removed = findRemoved(head, passedMeaning, isIdentified);
  const kinds = removedKinds.filter((_, index) => ((removed?.kinds ?? 0) & (1 << index)) !== 0);
  return { names: removed?.names ?? [], kinds };
}

t.test('removed headers are named as received, and their kinds told apart', async (t) => {
  const rows: [name: string, ...kinds: string[]][] = [
    ['authorization', 'Authorization'],
    ['X-API-Key', 'X-API-Key'],
    ['X_API_Key', 'odd names'],
    ['X_Custom', 'odd names'],
    ['X-Auth-Token', 'X-Auth-'],
    ['X_Auth_Token', 'X-Auth-'],
    ['Script-Name', 'mount points'],
    ['SCRIPT_NAME', 'mount points'],
    ['X-Original-URL', 'mount points'],
    ['X-Forwarded-Prefix', 'mount points'],
    ['Remote-User'],
    ['X-Forwarded-Port'],
    ['X-Secret'],
    ['X-HTTP-Method-Override'],
  ];
  for (const [name, ...kinds] of rows) t.strictSame(removedFrom([name]), { names: [name], kinds }, name);
  const nothing = { names: [], kinds: [] };
  for (const name of ['Accept', 'TE', 'Keep-Alive', 'X-Forwarded-For', 'Mcp-Param-a_b', 'Cookie'])
    t.strictSame(removedFrom([name]), nothing, name);
  t.strictSame(removedFrom(['Authorization', 'X-API-Key'], true), nothing, 'a credential that was judged');
  const passing = createPassedMeaning({
    passOddNames: true,
    passMethodOverride: true,
    dropped: [],
    passed: ['X-Auth-Token'],
  });
  const passed = ['X_Custom', 'X-Auth-Token', 'X-HTTP-Method-Override', 'X-Secret'];
  t.strictSame(removedFrom(passed, false, passing), nothing);
});

t.test('names that Connection lists are removed, too', async (t) => {
  const head = readRequestHead(['Connection', 'close, x-one', 'X-One', 'a', 'X-Two', 'b']);
  t.strictSame(findRemoved(head, strict, true), { kinds: 0, names: ['X-One'] });
});

t.test('at most sixteen names are kept, none of them long, and every kind', async (t) => {
  const many = Array.from({ length: 40 }, (_, index) => `Remote_User${'x'.repeat(100)}${index}`);
  const removed = removedHeaders([...many, 'X-Auth-Last'])!;
  t.equal(removed.names.length, 16);
  for (const name of removed.names) t.equal(name.length, 64);
  t.equal(removed.kinds, (1 << removedKinds.indexOf('odd names')) | (1 << removedKinds.indexOf('X-Auth-')));
  t.equal(removedHeaders(['TE']), null);
});

function startLines() {
  const lines: unknown[] = [];
  let now = 1_000_000;
  const log = { info: (message: string, fields?: object) => lines.push({ message, ...fields }) };
  const waiting = new RemovedHeaderLines(log, () => now);
  const pass = (milliseconds: number) => {
    now += milliseconds;
    waiting.add([]);
  };
  return { lines, waiting, pass };
}

const hour = 3_600_000;
const line = (header: string, route: string, count: number) => ({
  message: 'headers of clients removed',
  header,
  route,
  count,
});

t.test('a route and a kind have a line at once, then one an hour with all that came', async (t) => {
  const { lines, waiting, pass } = startLines();
  waiting.add([
    { header: 'X-Auth-', route: '/a', count: 2 },
    { header: 'odd names', route: '/a', count: 1 },
  ]);
  t.strictSame(lines.splice(0), [line('X-Auth-', '/a', 2), line('odd names', '/a', 1)]);
  waiting.add([{ header: 'X-Auth-', route: '/b', count: 1 }]);
  t.strictSame(lines.splice(0), [line('X-Auth-', '/b', 1)], 'each by itself');
  waiting.add([{ header: 'X-Auth-', route: '/a', count: 3 }]);
  pass(hour - 1);
  waiting.add([{ header: 'X-Auth-', route: '/a', count: 4 }]);
  t.strictSame(lines, []);
  pass(1);
  t.strictSame(lines.splice(0), [line('X-Auth-', '/a', 7)]);
  pass(hour);
  pass(hour);
  t.strictSame(lines, [], 'nothing came');
  waiting.add([{ header: 'odd names', route: '/a', count: 1 }]);
  t.strictSame(lines.splice(0), [line('odd names', '/a', 1)]);
});

t.test('a clock that is set back does not silence them', async (t) => {
  const { lines, waiting, pass } = startLines();
  waiting.add([{ header: 'X-Auth-', route: '/a', count: 1 }]);
  pass(-2 * hour);
  waiting.add([{ header: 'X-Auth-', route: '/a', count: 1 }]);
  t.equal(lines.length, 2);
});

t.test('requests are counted by route and kind, and reported once', async (t) => {
  const reported: unknown[] = [];
  const counts = new RemovedHeaderCounts((each) => reported.push(each));
  counts.report();
  counts.count('/a', 0b10001);
  counts.count('/a', 0b00001);
  counts.count('/b', 0b00100);
  counts.report();
  counts.report();
  t.strictSame(reported, [
    [],
    [
      { route: '/a', header: 'Authorization', count: 2 },
      { route: '/a', header: 'mount points', count: 1 },
      { route: '/b', header: 'odd names', count: 1 },
    ],
    [],
  ]);
});
