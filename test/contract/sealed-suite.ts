import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { createRecordSeals, type EncryptionKey, type RecordSeals } from '../../src/stores/record-seals.ts';
import type { Records } from '../../src/stores/records.ts';
import type { KeySeries, NewSigningKey } from '../../src/stores/signing-keys.ts';

/** One store that is opened again and again, as by starts of a gateway. */
export interface SealedStore {
  open(seals: RecordSeals | undefined): Promise<Omit<Records, 'version'> & { sealAll(): Promise<unknown> }>;
  /** All that a dump of it has; for a file, the file and its log. */
  dump(): Promise<Buffer>;
}

const series: KeySeries = { purpose: 'assertion', algorithm: 'EdDSA' };
const times = { rotateEveryMs: null, publishAheadMs: 0, lifetimeMs: 1 };
const k1: EncryptionKey = { id: 'k1', key: randomBytes(32) };
const k2: EncryptionKey = { id: 'k2', key: randomBytes(32) };
const sealsOf = (...keys: readonly EncryptionKey[]) => createRecordSeals('acme', keys);

/** What must not be in a dump, and what has to be read back. */
function newSecrets() {
  const d = randomBytes(32).toString('base64url');
  const candidate: NewSigningKey = { ...series, kid: 'kid', privateJwk: JSON.stringify({ kty: 'OKP', d }) };
  return { d, candidate, cursor: randomBytes(32), token: randomBytes(24).toString('base64url') };
}
type Secrets = ReturnType<typeof newSecrets>;

async function write(store: Pick<Records, 'turnSigningKeys' | 'secret' | 'setBootstrapToken'>, of: Secrets) {
  await store.turnSigningKeys({ series, times, candidate: of.candidate });
  await store.secret('cursor', of.cursor);
  await store.secret('tenant', Buffer.from('acme'));
  await store.setBootstrapToken(of.token, { reset: true });
}

async function assertReads(t: Test, store: Omit<Records, 'version'>, of: Secrets): Promise<void> {
  const { keys } = await store.signingKeys();
  t.equal(keys.find(({ kid }) => kid === 'kid')?.privateJwk, of.candidate.privateJwk);
  t.same(Buffer.from(await store.secret('cursor', randomBytes(32))), of.cursor);
  t.equal(Buffer.from(await store.secret('tenant', randomBytes(32))).toString(), 'acme');
  t.strictSame(await store.bootstrap(), { open: true, token: of.token });
}

/** Which of them a dump has. */
function foundIn(dump: Buffer, { d, cursor, token }: Secrets): readonly string[] {
  const hex = Buffer.from(cursor.toString('hex'));
  const searched = { d, 'd, raw': Buffer.from(d, 'base64url'), cursor, 'cursor, in hex': hex, token };
  const text = { 'cursor, in base64url': cursor.toString('base64url') };
  return Object.entries({ ...searched, ...text }).flatMap(([name, bytes]) =>
    dump.includes(bytes) ? [name] : [],
  );
}

/** The contract of every records store for its encryption at rest. */
export function runSealedSuite(name: string, create: (t: Test) => Promise<SealedStore>): void {
  t.test(`${name}: what is written with encryption on is in no dump, and read back`, async (t) => {
    const store = await create(t);
    const plain = await store.open(undefined);
    const bare = newSecrets();
    await write(plain, bare);
    t.ok(foundIn(await store.dump(), bare).length >= 3, 'a search that finds what is there');
    await plain.close();

    const other = await create(t);
    const opened = await other.open(sealsOf(k1));
    const secrets = newSecrets();
    await write(opened, secrets);
    t.strictSame(foundIn(await other.dump(), secrets), []);
    await assertReads(t, opened, secrets);
    await opened.close();
  });

  t.test(`${name}: turning it on rewrites what is there`, async (t) => {
    const store = await create(t);
    const secrets = newSecrets();
    const before = await store.open(undefined);
    await write(before, secrets);
    await before.close();
    const after = await store.open(sealsOf(k1));
    t.match(await after.sealAll(), name === 'sqlite' ? { isRewritten: true, isRemaining: false } : true);
    t.strictSame(foundIn(await store.dump(), secrets), []);
    await assertReads(t, after, secrets);
    t.match(await after.sealAll(), name === 'sqlite' ? { isRewritten: false } : false, 'once');
    await after.close();
  });

  t.test(`${name}: a key is added last, moved first, and may go then`, async (t) => {
    const store = await create(t);
    const secrets = newSecrets();
    const first = await store.open(sealsOf(k1));
    await write(first, secrets);
    const added = await store.open(sealsOf(k1, k2));
    await added.sealAll();
    const moved = await store.open(sealsOf(k2, k1));
    await moved.sealAll();
    for (const each of [added, moved]) await assertReads(t, each, secrets);
    for (const each of [first, added, moved]) await each.close();
    const alone = await store.open(sealsOf(k2));
    await alone.sealAll();
    await assertReads(t, alone, secrets);
    await alone.close();
  });

  t.test(`${name}: a wrong, missing or exchanged key is told at once`, async (t) => {
    const store = await create(t);
    const good = await store.open(sealsOf(k1));
    await write(good, newSecrets());
    await good.close();
    const wrong: Readonly<Record<string, readonly [RecordSeals | undefined, RegExp]>> = {
      none: [undefined, /is encrypted with the key "k1", which stores.records_encryption doesn't have/],
      another: [sealsOf(k2), /is encrypted with the key "k1", which/],
      exchanged: [sealsOf({ id: 'k1', key: k2.key }), /can't be decrypted with the key "k1"/],
      'of another tenant': [createRecordSeals('other', [k1]), /can't be decrypted with the key "k1"/],
    };
    for (const [which, [seals, message]] of Object.entries(wrong)) {
      const opened = await store.open(seals);
      await t.rejects(opened.sealAll(), { name: 'SealError', message }, which);
      await t.rejects(async () => opened.signingKeys(), which);
      await opened.close();
    }
  });
}
