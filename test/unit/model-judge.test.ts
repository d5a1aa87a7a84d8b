import t from 'tap';
import { Disturbances } from '../model/promises/disturbances.ts';
import { Judge } from '../model/promises/judge.ts';
import {
  ModelledKey,
  ModelledSession,
  ModelledSet,
  ModelledUser,
  Records,
} from '../model/promises/records.ts';
import { Rotation } from '../model/promises/rotation.ts';

const made = { from: 0, to: 10 };
const staleMs = 4_000;
const scopes = ['store:read', 'store:write'];

/** A user with a scope set, a session and a key, all of them there from 10 ms on. */
function stage() {
  const records = new Records();
  const disturbances = new Disturbances();
  const promises = { propagationMs: 1_000, staleMs, tokenLifeMs: 600_000, isKept: () => true };
  const set = new ModelledSet('set', 'set', ['books:read'], made);
  records.sets.set(set.id, set);
  const fields = { id: 'ann', name: 'ann', password: 'a', scopes, sets: ['set'] };
  const user = new ModelledUser(fields, made);
  const token = { text: 'token', scopes: ['books:read', ...scopes], issued: made };
  const rotation = new Rotation(1_000, { ...made, cookie: '1' });
  const session = new ModelledSession('session', user, null, token, rotation);
  const key = new ModelledKey({ id: 'key', key: 'key', scopes, sets: ['set'], owner: user }, made);
  return { disturbances, judge: new Judge(records, disturbances, promises), set, user, token, session, key };
}

const at = (from: number) => ({ from, to: from + 10 });
const everything = 'books:read store:read store:write';

t.test('a session may be admitted for a second after its end, and no longer', async (t) => {
  const { judge, session, token } = stage();
  session.endings.begin('signed out', 5_000).acknowledge(5_010);
  t.equal(judge.tokenAdmitted(session, token, everything, at(6_000)), null);
  t.match(judge.tokenAdmitted(session, token, everything, at(6_020)), /1010 ms after its end: signed out/);
  t.equal(judge.mayBeOver(session, 4_999), false, 'before it was asked for, a refusal is a violation');
  t.equal(judge.mayBeOver(session, 5_000), true);
});

t.test('while its store is away, as long as stale_if_error says, however long the end is ago', async (t) => {
  const { judge, session, token, disturbances } = stage();
  disturbances.begin('Redis is paused', ['sessions'], 4_500);
  session.endings.begin('signed out', 5_000).acknowledge(5_010);
  t.equal(judge.tokenAdmitted(session, token, everything, at(4_500 + staleMs + 900)), null);
  t.match(judge.tokenAdmitted(session, token, everything, at(4_500 + staleMs + 1_100)), /after its end/);
});

t.test('the other store has no part in that', async (t) => {
  const { judge, key, disturbances } = stage();
  disturbances.begin('Redis is paused', ['sessions'], 4_500);
  key.endings.begin('deleted', 5_000).acknowledge(5_010);
  t.match(judge.keyAdmitted(key, everything, at(6_020)), /after its end: deleted/);
});

t.test('a machine that stood still excuses as much', async (t) => {
  const { judge, session, token, disturbances } = stage();
  session.endings.begin('signed out', 5_000).acknowledge(5_010);
  disturbances.stalled({ from: 5_500, to: 5_800 });
  t.equal(judge.tokenAdmitted(session, token, everything, at(6_250)), null);
  t.match(judge.tokenAdmitted(session, token, everything, at(6_320)), /after its end/);
});

t.test('who is disabled is out; that may be undone for keys, and not for sessions', async (t) => {
  const { judge, user, session, token, key } = stage();
  user.disabled.begin(true, 5_000).acknowledge(5_010);
  user.sessionEndings.begin('disabled', 5_000).acknowledge(5_010);
  t.match(judge.keyAdmitted(key, everything, at(6_020)), /its owner is disabled/);
  user.disabled.begin(false, 8_000).acknowledge(8_010);
  t.equal(judge.keyAdmitted(key, everything, at(8_005)), null);
  t.equal(judge.keyMayBeOver(key, at(8_900)), true, 'not every gateway knows');
  t.equal(judge.keyMayBeOver(key, at(9_020)), false);
  t.match(judge.tokenAdmitted(session, token, everything, at(9_020)), /after its end/);
});

t.test('the scopes upstream are some that were held within the last second', async (t) => {
  const { judge, user, set, session, token, key } = stage();
  t.equal(judge.tokenAdmitted(session, token, everything, at(1_500)), null);
  t.match(judge.tokenAdmitted(session, token, 'store:read', at(1_500)), /admitted with "store:read", not/);
  set.scopes.begin([], 5_000).acknowledge(5_010);
  user.scopes.begin(['store:read'], 5_000).acknowledge(5_010);
  const both = [everything, 'store:read', 'store:read store:write', 'books:read store:read'];
  for (const seen of both) t.equal(judge.tokenAdmitted(session, token, seen, at(5_500)), null, seen);
  t.equal(judge.tokenAdmitted(session, token, 'store:read', at(6_020)), null);
  t.match(judge.tokenAdmitted(session, token, everything, at(6_020)), /not "store:read"/);
  t.match(judge.keyAdmitted(key, everything, at(6_020)), /not "store:read"/);
  t.equal(judge.tokenIssued(user, ['store:read', 'books:read'], 'store:read', at(6_020)), null);
  t.match(judge.tokenIssued(user, null, 'store:read store:write', at(6_020)), /issued with/);
});

t.test('a key goes by what its new owner holds once it was transferred', async (t) => {
  const { judge, key } = stage();
  const heir = new ModelledUser(
    { id: 'bob', name: 'bob', password: 'b', scopes: ['store:read'], sets: [] },
    made,
  );
  key.owner.begin(heir, 5_000).acknowledge(5_010);
  t.equal(judge.keyAdmitted(key, 'store:read', at(6_020)), null);
  t.match(judge.keyAdmitted(key, everything, at(6_020)), /not "store:read"/);
});
