import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import { keysPath, startKeyAdministration } from '../support/administration/key-administration.ts';
import { checksumOf, partsOf } from '../support/administration/key-format.ts';
import { addScopeSet } from '../support/administration/scope-sets.ts';
import { administrator } from '../support/gateway/gateway.ts';

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

t.test('the response shows the whole key, its raw form this once', async (t) => {
  const { ask, call, administratorId } = await startKeyAdministration(t);
  const before = Date.now();
  const { status, headers, json } = await ask({
    label: '  nightly import \u2028',
    scopes: ['store:write', 'store:read'],
  });
  t.equal(status, 201);
  t.equal(headers['cache-control'], 'no-store');
  t.equal(headers['content-type'], 'application/json');
  t.match(headers['x-request-id'], /./);

  const { key, ...read } = json;
  t.strictSame(read, {
    id: json.id,
    label: 'nightly import',
    hint: key.slice(0, 'pst_'.length + 4),
    scopes: ['store:read', 'store:write'],
    scope_sets: [],
    created: json.created,
    created_by: { id: administratorId, username: administrator.username },
    parent: null,
    expires: null,
    last_used: null,
    status: 'active',
  });
  t.match(json.id, uuidv7);
  t.match(json.created, instant);
  t.ok(Date.parse(json.created) >= before && Date.parse(json.created) <= Date.now());

  t.strictSame((await call('GET', json.id)).json, read, 'reading it returns the same without the raw key');
  t.strictSame((await call('GET')).json.items, [read], 'and so does the list');
});

t.test('references are shown as objects or, unhydrated, as bare ids', async (t) => {
  const { ask, call, api, folder, asAdministrator, administratorId } = await startKeyAdministration(t);
  await addScopeSet(folder, { id: '0-set', name: 'readers', scopes: ['store:read', 'gone:by'] });
  const body = { label: 'a', scopes: [], scope_sets: ['administrator', '0-set'] };
  const { json: catalogue } = await call('GET', 'scopes');
  const hydrated = [
    { id: '0-set', name: 'readers', scopes: ['store:read'] },
    { id: 'administrator', name: 'administrator', scopes: catalogue },
  ];
  const owner = { id: administratorId, username: administrator.username };

  const { json: created } = await ask(body);
  t.strictSame([created.scope_sets, created.created_by], [hydrated, owner]);
  const bare = await api.send({
    method: 'POST',
    path: `${keysPath}?hydrate=false`,
    json: body,
    ...asAdministrator,
  });
  t.equal(bare.status, 201);
  t.strictSame([bare.json.scope_sets, bare.json.created_by], [['0-set', 'administrator'], administratorId]);

  for (const [query, expected] of [
    ['', [hydrated, owner]],
    ['?hydrate=true', [hydrated, owner]],
    ['?hydrate=0', [['0-set', 'administrator'], administratorId]],
  ] as const) {
    const { json: read } = await call('GET', created.id + query);
    t.strictSame([read.scope_sets, read.created_by], expected, `read ${query}`);
    const { json: list } = await call('GET', query);
    t.strictSame([list.items[0].scope_sets, list.items[0].created_by], expected, `list ${query}`);
  }
});

t.test('a raw key has the prefix, 160 random bits and the checksum of the format', async (t) => {
  const { mint } = await startKeyAdministration(t, { config: { api_keys: { prefix: 'a1b2c3d4e5f6g7h8' } } });
  const randoms = new Set<string>();
  for (let made = 0; made < 50; made += 1) {
    const { key, hint } = await mint();
    const { prefix, random, checksum } = partsOf(key);
    t.equal(prefix, 'a1b2c3d4e5f6g7h8');
    t.match(random, /^[0-9A-Za-z]+$/);
    t.ok(random.length * Math.log2(62) >= 160);
    t.equal(checksum, checksumOf(random));
    t.equal(hint, `${prefix}_${random.slice(0, 4)}`);
    randoms.add(random);
  }
  t.equal(randoms.size, 50);
});

t.test('keys of an earlier prefix keep working', async (t) => {
  const first = await startKeyAdministration(t);
  const earlier = await first.mint();
  const { folder } = first;
  const second = await startKeyAdministration(t, { folder, config: { api_keys: { prefix: 'new' } } });
  t.equal(await second.statusOfUse(earlier.key), 200);
  const later = await second.mint();
  t.match(later.key, /^new_/);
  t.equal(await first.statusOfUse(later.key), 200);
  t.equal((await second.call('GET', earlier.id)).json.hint, earlier.hint);
});

t.test('at rest there is the SHA-256 with its version, and the key nowhere', async (t) => {
  const { mint, folder, statusOfUse, logLines } = await startKeyAdministration(t);
  const { key } = await mint({ label: 'to be searched for' });
  t.equal(await statusOfUse(key), 200);
  logLines();

  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  const holding = (bytes: Buffer) => files.filter((file) => file.includes(bytes)).length;
  const digest = hash('sha256', key, 'buffer');
  t.ok(holding(Buffer.from('to be searched for')) > 0, 'what is there is found');
  t.ok(holding(digest) > 0, 'the digest is there');
  t.equal(holding(Buffer.from(key)), 0);
  t.equal(holding(Buffer.from(partsOf(key).random)), 0);
  const db = new Database(join(folder, 'records.db'), { readonly: true });
  t.strictSame(db.prepare('SELECT hash, hash_format FROM api_keys').get(), { hash: digest, hash_format: 1 });
  db.close();
});

t.test('minting is audited, without the key', async (t) => {
  const { mint, logLines, administratorId } = await startKeyAdministration(t);
  const { id } = await mint();
  t.match(
    logLines().filter(({ event }) => event === 'api_key_created'),
    [
      {
        audit: true,
        outcome: 'success',
        actor: { user: administratorId, kind: 'session' },
        key: id,
        address: '127.0.0.1',
      },
    ],
  );
});

t.test("a user without the administrator set mints within the user's own scopes", async (t) => {
  const { api, folder, ask } = await startKeyAdministration(t);
  const account = {
    username: 'Bea',
    password: 'another horse battery',
    scopes: ['apikeys:write', 'store:read'],
  };
  const { id } = await addUser(folder, account);
  const { accessToken: bearer } = await api.signIn(account.username, account.password);
  const { status, json } = await ask({ label: 'b', scopes: ['store:read'] }, { bearer });
  t.equal(status, 201);
  t.strictSame(json.created_by, { id, username: 'Bea' });
});
