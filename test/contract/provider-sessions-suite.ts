import t from 'tap';
import type { ProviderIdentity } from '../../src/stores/sessions.ts';
import { newSession, sessionTimes, startOfTime } from './fixtures.ts';
import type { SessionsFactory } from './sessions-under-test.ts';

const { absoluteLifetimeMs } = sessionTimes;
const issuer = 'https://login.example.com';
const alice: ProviderIdentity = { issuer, subject: 'alice', sid: 'at-the-provider' };

/** The contract of every session store for sessions that began at an identity provider. */
export function runProviderSessionsSuite({ name, create }: SessionsFactory): void {
  t.test(`${name}: a session keeps who signed in at which provider, the ID token, and claims`, async (t) => {
    const { store, openSecond, advance } = await create(t);
    const second = await openSecond();
    const sealedIdToken = 'x'.repeat(11_000);
    const sealedClaims = 'y'.repeat(6_000);
    const kept = { provider: alice, sealedIdToken, sealedClaims };
    t.match((await store.create({ ...newSession('s'), ...kept }, sessionTimes)).session, kept);
    t.match(await second.find('s'), kept);
    await advance(1_000);
    t.match(await second.present('s', 1, sessionTimes), { outcome: 'current', session: kept });
    await advance(1_000);
    await store.noteUse(new Map([['s', startOfTime + 2_000]]), sessionTimes);
    const { items } = await second.list({ sortBy: 'created', sortOrder: 'asc', filters: {}, size: 10 });
    t.match(items, [{ id: 's', lastUsed: startOfTime + 2_000, ...kept }]);
    t.match(await store.revoke('s'), { id: 's', ...kept });
  });

  t.test(`${name}: a live session says where it began, and whether it was restricted`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const origin = { issuer, subject: 'alice', provider: 'corp' };
    for (const [id, scope] of [
      ['free', null],
      ['of some scopes', 'a b'],
      ['of no scopes', ''],
    ] as const) {
      await store.create({ ...newSession(id), method: 'corp', scope, provider: alice }, sessionTimes);
      await store.create({ ...newSession(`${id}, by password`), scope }, sessionTimes);
      await store.create({ ...newSession(`${id}, with claims`), scope, sealedClaims: id }, sessionTimes);
      const isRestricted = scope !== null;
      for (const each of [store, second]) {
        t.match(await each.findLive(id), { isRestricted, origin }, id);
        t.match(
          await each.findLive(`${id}, by password`),
          { isRestricted, origin: null, sealedClaims: null },
          id,
        );
        t.match(await each.findLive(`${id}, with claims`), { sealedClaims: id }, id);
      }
      await store.present(id, 1, sessionTimes);
      await store.noteUse(new Map([[id, startOfTime + 1]]), sessionTimes);
      for (const each of [store, second]) t.match(await each.findLive(id), { isRestricted, origin }, id);
      const told = `${id}, with claims`;
      await store.present(told, 1, sessionTimes);
      await store.noteUse(new Map([[told, startOfTime + 1]]), sessionTimes);
      for (const each of [store, second]) t.match(await each.findLive(told), { sealedClaims: id }, told);
    }
  });

  t.test(`${name}: a sign-in by password, or without a session at the provider, has none`, async (t) => {
    const { store } = await create(t);
    const password = { provider: null, sealedIdToken: null, sealedClaims: null };
    t.match((await store.create(newSession('password'), sessionTimes)).session, password);
    t.match(await store.find('password'), password);
    const provider = { ...alice, sid: null };
    await store.create({ ...newSession('no sid'), provider }, sessionTimes);
    t.match(await store.find('no sid'), { provider, sealedIdToken: null });
    t.strictSame(await store.idsOfProvider({ issuer, subject: 'alice' }), ['no sid']);
  });

  t.test(`${name}: a provider's sessions are found by its own session, and by subject`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const other = 'https://login.example.com/other';
    const sessions: Record<string, ProviderIdentity> = {
      tab: alice,
      'other tab': alice,
      phone: { ...alice, sid: 'another' },
      bob: { ...alice, subject: 'bob', sid: 'of bob' },
      elsewhere: { ...alice, issuer: other },
      'a subject like a sid': { issuer, subject: 'at-the-provider', sid: 'alice' },
    };
    for (const [id, provider] of Object.entries(sessions))
      await store.create({ ...newSession(id), provider }, sessionTimes);
    await store.create(newSession('password'), sessionTimes);
    const bySid = async (sid: string) => [...(await second.idsOfProvider({ issuer, sid }))].sort();
    const bySubject = async (subject: string, at = issuer) =>
      [...(await second.idsOfProvider({ issuer: at, subject }))].sort();
    t.strictSame(await bySid('at-the-provider'), ['other tab', 'tab']);
    t.strictSame(await bySid('alice'), ['a subject like a sid']);
    t.strictSame(await bySubject('alice'), ['other tab', 'phone', 'tab']);
    t.strictSame(await bySubject('alice', other), ['elsewhere']);
    t.strictSame(await bySid('nobody'), []);
    t.strictSame(await bySubject('', ''), []);
  });

  t.test(`${name}: whatever a provider calls them, they are told apart`, async (t) => {
    const { store } = await create(t);
    const odd = ['{a}', '}{', ':', ' ', 'ä', 'a'.repeat(255), `${'a'.repeat(254)}b`, '*', '["', '\u{1f600}'];
    for (const [index, sid] of odd.entries())
      await store.create(
        { ...newSession(`${index}`), provider: { issuer, subject: sid, sid } },
        sessionTimes,
      );
    for (const [index, sid] of odd.entries()) {
      t.strictSame(await store.idsOfProvider({ issuer, sid }), [`${index}`], sid);
      t.strictSame(await store.idsOfProvider({ issuer, subject: sid }), [`${index}`], sid);
    }
  });

  t.test(`${name}: they are found for as long as they live, however they are used`, async (t) => {
    const { store, advance } = await create(t);
    for (const id of ['refreshed', 'noted'])
      await store.create({ ...newSession(id), provider: alice }, sessionTimes);
    let generation = 1;
    for (let elapsed = 90_000; elapsed < absoluteLifetimeMs; elapsed += 90_000) {
      await advance(90_000);
      const presentation = await store.present('refreshed', generation, sessionTimes);
      if (presentation.outcome !== 'current') throw new Error(presentation.outcome);
      generation = presentation.session.generation;
      await store.noteUse(new Map([['noted', startOfTime + elapsed]]), sessionTimes);
    }
    for (const which of [{ sid: 'at-the-provider' }, { subject: 'alice' }])
      t.strictSame([...(await store.idsOfProvider({ issuer, ...which }))].sort(), ['noted', 'refreshed']);
  });
}
