import t from 'tap';
import type { KeySeries, NewSigningKey, SigningKey } from '../../src/stores/signing-keys.ts';
import { startOfTime } from './fixtures.ts';
import type { RecordsFactory } from './records-suite.ts';

const series: KeySeries = { purpose: 'access-token', algorithm: 'ES256' };
const cookies: KeySeries = { purpose: 'cookie', algorithm: 'HS256' };
const times = { rotateEveryMs: 10_000, publishAheadMs: 1_000, lifetimeMs: 100 };
const key = (kid: string, of = series): NewSigningKey => ({ ...of, kid, privateJwk: `{"kid":"${kid}"}` });

/** The contract of every records store for keys that sign, and are replaced. */
export function runSigningKeysSuite({ name, create }: RecordsFactory): void {
  t.test(`${name}: one of the first keys of several processes signs`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    t.strictSame(await store.signingKeys(), { keys: [], time: startOfTime });
    const changes = await Promise.all(
      [store, second, store, second].map((each, index) =>
        each.turnSigningKeys({ series, times, candidate: key(`k${index}`) }),
      ),
    );
    const { keys } = await second.signingKeys();
    t.equal(keys.length, 1);
    for (const change of changes) t.strictSame(change.keys, keys);
    const made: SigningKey = {
      ...key(keys[0]!.kid),
      created: startOfTime,
      signsFrom: startOfTime,
      retired: null,
      requested: null,
      lifetimeMs: 100,
    };
    t.strictSame(keys, [made]);
  });

  t.test(`${name}: a rotation happens once, by the store's clock`, async (t) => {
    const { store, openSecond, advance } = await create(t);
    const second = await openSecond();
    await store.turnSigningKeys({ series, times, candidate: key('one') });
    await advance(9_000);
    const turn = (candidate: NewSigningKey | null) => (each: typeof store) =>
      each.turnSigningKeys({ series, times, candidate });
    t.match(await turn(null)(second), { turn: { needs: 'next' }, keys: [{ kid: 'one' }] });
    await Promise.all([turn(key('two'))(store), turn(key('three'))(second)]);
    const { keys } = await store.signingKeys();
    t.equal(keys.length, 2);
    const next = keys.find(({ kid }) => kid !== 'one')!;
    t.match(next, { created: startOfTime + 9_000, signsFrom: null });
    await advance(999);
    await turn(key('four'))(store);
    t.strictSame((await store.signingKeys()).keys, keys, 'nothing is due');
    await advance(1);
    const version = second.version();
    const done = await Promise.all([store, second].map(turn(null)));
    t.strictSame(done.map(({ turn }) => turn.start).sort(), [next.kid, null].sort(), 'one of them did it');
    t.match((await second.signingKeys()).keys, [
      { kid: next.kid, signsFrom: startOfTime + 10_000, retired: null },
      { kid: 'one', retired: startOfTime + 10_000 },
    ]);
    t.not(second.version(), version, 'and the other notices');
    await advance(60_100);
    t.match((await turn(null)(store)).turn, { drop: ['one'], needs: 'next' });
    t.strictSame(
      (await second.signingKeys()).keys.map(({ kid }) => kid),
      [next.kid],
    );
  });

  t.test(`${name}: series are independent`, async (t) => {
    const { store } = await create(t);
    const all: readonly KeySeries[] = [
      series,
      { purpose: 'access-token', algorithm: 'EdDSA' },
      { purpose: 'assertion', algorithm: 'EdDSA' },
      cookies,
    ];
    for (const [index, each] of all.entries())
      await store.turnSigningKeys({ series: each, times, candidate: key(`k${index}`, each) });
    const { keys } = await store.signingKeys();
    t.strictSame(
      keys.map(({ kid, purpose, algorithm }) => ({ kid, purpose, algorithm })),
      all.map((each, index) => ({ kid: `k${index}`, ...each })).reverse(),
      'newest first',
    );
    t.ok(keys.every(({ signsFrom }) => signsFrom !== null));
  });

  t.test(`${name}: a request has the next key sign as soon as it may`, async (t) => {
    const { store, advance } = await create(t);
    await store.turnSigningKeys({ series, times, candidate: key('one') });
    const asked = await store.turnSigningKeys({ series, times, candidate: key('two'), isRequested: true });
    t.match(asked, {
      turn: { needs: 'next' },
      requested: 'one',
      keys: [{ kid: 'two' }, { requested: startOfTime }],
    });
    await advance(999);
    t.match(await store.turnSigningKeys({ series, times, candidate: null, isRequested: true }), {
      turn: { start: null },
      keys: [{}, { kid: 'one', requested: startOfTime }],
    });
    await advance(1);
    t.match(await store.turnSigningKeys({ series, times, candidate: null }), { turn: { start: 'two' } });
  });

  t.test(`${name}: a revoked key is gone, and another one signs at once`, async (t) => {
    const { store, openSecond } = await create(t);
    const second = await openSecond();
    const revoke = (kid: string, candidate: NewSigningKey | null = null) =>
      store.turnSigningKeys({ series, times, candidate, revoke: kid });
    await store.turnSigningKeys({ series, times, candidate: key('one') });
    const version = second.version();
    t.match(await revoke('one', key('two')), { revoked: 'one', turn: { needs: 'signer' } });
    t.match((await second.signingKeys()).keys, [{ kid: 'two', signsFrom: startOfTime }]);
    await t.resolves(async () => {
      while (second.version() === version) await new Promise(setImmediate);
    }, 'the other process notices');
    await store.turnSigningKeys({ series, times, candidate: key('three'), isRequested: true });
    t.match(await revoke('two'), { revoked: 'two', turn: { start: 'three' } });
    t.match((await second.signingKeys()).keys, [{ kid: 'three', signsFrom: startOfTime }]);
    t.match(await revoke('two'), { revoked: null });
    const { keys } = await second.signingKeys();
    t.match(await revoke('three'), { revoked: 'three', turn: { needs: 'signer' } }, 'without a candidate');
    t.strictSame(keys.length, 1);
  });

  t.test(`${name}: the secret that cookies had before it could be replaced goes on`, async (t) => {
    const { store, addEarlierCookieSecret } = await create(t);
    await addEarlierCookieSecret(Buffer.from([0, 255, 7]));
    const change = await store.turnSigningKeys({ series: cookies, times, candidate: key('c', cookies) });
    t.match(change.keys, [{ kid: 'c', privateJwk: '{"kty":"oct","k":"AP8H"}', signsFrom: startOfTime }]);
    const again = { series: cookies, times, candidate: key('d', cookies), revoke: 'c' };
    t.match((await store.turnSigningKeys(again)).keys, [{ kid: 'd', privateJwk: '{"kid":"d"}' }], 'once');
  });
}
