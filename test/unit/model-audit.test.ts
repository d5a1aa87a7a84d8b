import t from 'tap';
import { type AuditEvent, auditProblems, type ExpectedEvents } from '../model/promises/audit-order.ts';
import { listingProblems } from '../model/promises/listing.ts';

function event(id: number, requestId: string, name = 'user_changed'): AuditEvent {
  const time = new Date(id * 1_000).toISOString();
  const target = { type: 'user', id: 'ann' };
  return { id: String(id), time, event: name, outcome: 'success', request_id: requestId, target };
}

function asked(requestId: string, from: number, to: number | null, isOptional = false): ExpectedEvents {
  return { requestId, from, to, isOptional, events: [{ event: 'user_changed', target: 'ann' }] };
}

const expected = (...all: ExpectedEvents[]) => new Map(all.map((one) => [one.requestId, one]));
const two = expected(asked('a', 0, 10), asked('b', 20, 30));

t.test('a feed with each change once and in order has no problem', async (t) => {
  t.strictSame(auditProblems([event(1, 'a'), event(2, 'b')], two), []);
  const lost = expected(asked('a', 0, null), asked('b', 20, 30), asked('c', 40, 50, true));
  t.strictSame(auditProblems([event(1, 'b')], lost), [], 'one was lost, and one changed nothing');
  t.strictSame(auditProblems([event(1, 'b'), event(2, 'a')], lost), [], 'a lost one took effect late');
});

t.test('a key of a session that ended meanwhile is deleted by the request that made it', async (t) => {
  const refused = expected({ ...asked('a', 0, null), events: [], isUndone: true });
  const feed = [event(1, 'a', 'api_key_created'), event(2, 'a', 'api_key_deleted')];
  t.strictSame(auditProblems(feed, refused), []);
  t.strictSame(auditProblems([], refused), []);
  t.match(auditProblems(feed.slice(0, 1), refused).join(), /was refused, and not undone/);
});

const broken: readonly [string, readonly AuditEvent[], RegExp][] = [
  ['a change that is missing', [event(1, 'a')], /user_changed of b is missing/],
  ['an event twice', [event(1, 'a'), event(2, 'b'), event(2, 'b')], /in the feed twice/],
  ['a change written twice', [event(1, 'a'), event(2, 'b'), event(3, 'b')], /written twice/],
  ['an order that no clock explains', [event(1, 'b'), event(2, 'a')], /comes after user_changed of b/],
  ['a time that falls', [event(2, 'a'), event(1, 'b')], /earlier time/],
  ['a change that no one asked for', [event(1, 'a'), event(2, 'b'), event(3, 'c')], /was refused/],
];

t.test('the checker finds behaviour that the interface forbids', async (t) => {
  for (const [name, feed, problem] of broken) t.match(auditProblems(feed, two).join('\n'), problem, name);
});

t.test('a listing holds what was there all the time, once, and nothing that was gone', async (t) => {
  const bounds = { must: new Map([['a', 'the key']]), mustNot: new Map([['b', 'deleted']]) };
  t.strictSame(listingProblems(['a', 'c'], bounds), []);
  t.match(listingProblems(['c'], bounds).join(), /the key \(a\) is missing/);
  t.match(listingProblems(['a', 'b'], bounds).join(), /b is listed, though it is gone: deleted/);
  t.match(listingProblems(['a', 'c', 'c'], bounds).join(), /c is listed twice/);
});
