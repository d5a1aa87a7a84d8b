import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import type { ApiKey } from '../../../src/stores/api-key.ts';
import type { Records } from '../../../src/stores/records.ts';
import { createSqliteRecords } from '../../../src/stores/sqlite/records.ts';
import type { NewUser } from '../../../src/stores/user.ts';
import { createApiKey, createUser, linkIdentity } from '../administration/record-changes.ts';

/** More than one page of a copy. */
export const manyKeys = 1_203;

const created = Date.UTC(2026, 10, 21);
/** Names that sort differently by bytes, by UTF-16 and by a language. */
const names = ['Zoë', 'ada', 'Ähre', '\u{1f600}', '\uff21', 'O\'Neil "x" \\ ?', 'line\u2028separator'];

/** Makes records in a new file: something in every column of every table. */
export async function fillRecords(file: string): Promise<void> {
  const store = createSqliteRecords(file, { now: () => created });
  addScopeSet(file);
  for (const [index, name] of names.entries()) await createUser(store, user(index, name), name);
  const claims = { issuer: 'https://login.example.com', displayName: 'Grace', email: null };
  const newUser = { id: 'by-provider', created, names: [{ username: 'grace', canonicalName: 'grace' }] };
  const granted = {
    scopes: ['store:read'],
    scopeSets: ['set-1', 'administrator'],
    grants: ['["groups","É"]'],
    provider: 'corp',
  };
  await store.acceptIdentity({ ...claims, ...granted, subject: 'É?' }, newUser);
  await linkIdentity(store, 'user-1', { issuer: claims.issuer, subject: 'second' });
  await fillSigningKeys(store);
  await store.secret('cursor', Buffer.from([0, 255, 128, 10, 0]));
  await store.setBootstrapToken('a token made by a reset', { reset: true });
  for (let index = 0; index < 3; index++) await createApiKey(store, key(index), hashOf(`key-${index}`));
  // Links that deleted keys leave behind.
  const line = { first: null, second: 'first', third: 'second' };
  for (const [id, parent] of Object.entries(line))
    await createApiKey(store, { ...key(0), id, parent }, hashOf(id));
  for (const id of ['first', 'second']) await store.deleteApiKey(id, { children: false });
  await store.close();
  addRows(file);
}

/** Every row of every table of a file, as JSON, sorted. */
export function dumpOf(file: string): Record<string, readonly string[]> {
  const db = new Database(file, { readonly: true });
  const tables = db
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'scrub'`,
    )
    .pluck()
    .all();
  const rows = tables.map((table) => {
    const found = db.prepare(`SELECT * FROM ${table}`).all();
    return [table, found.map((row) => JSON.stringify(row)).sort()];
  });
  db.close();
  return Object.fromEntries(rows);
}

/** As {@link dumpOf}, without the audit events of copies and what they number. */
export function dumpWithoutCopies(file: string): Record<string, readonly string[]> {
  const dump = Object.entries(dumpOf(file)).filter(([table]) => table !== 'audit_state');
  return Object.fromEntries(
    dump.map(([table, rows]) => [table, rows.filter((row) => !row.includes('records_copied'))]),
  );
}

/** The columns of a file that are null in every row, or have none. */
export function emptyColumnsOf(file: string): readonly string[] {
  const db = new Database(file, { readonly: true });
  const columns = db
    .prepare<[], { name: string; found: string }>(
      `SELECT t.name, c.name AS found FROM pragma_table_list t, pragma_table_xinfo(t.name) c
        WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'`,
    )
    .all();
  const empty = columns.filter(
    ({ name, found }) => db.prepare(`SELECT 1 FROM ${name} WHERE ${found} IS NOT NULL`).get() === undefined,
  );
  db.close();
  return empty.map(({ name, found }) => `${name}.${found}`);
}

/** As the configuration defines one. */
function addScopeSet(file: string): void {
  const db = new Database(file);
  db.prepare(
    `INSERT INTO scope_sets VALUES ('set-1', 'readers', 'Who reads', '["store:read"]', 1, 2, 1, 3)`,
  ).run();
  db.close();
}

/** What no method of the store makes. */
function addRows(file: string): void {
  const db = new Database(file);
  db.prepare(`INSERT INTO invitations VALUES ('user-1', x'00ff', '{"kind":"command_line"}', 1, 2)`).run();
  db.prepare(
    `UPDATE users SET kind = 'service', managed = 1, epoch = 7, carried_session = 'session-1', version = 9 WHERE id = 'user-1'`,
  ).run();
  db.prepare('UPDATE tenant_epoch SET epoch = 3').run();
  db.prepare(
    `INSERT INTO command_events VALUES ('00000000-0000-7000-8000-000000000001', '{"event":"user_created"}')`,
  ).run();
  db.prepare(`INSERT INTO applied_configurations VALUES ('digest', 1, 5)`).run();
  db.prepare(`INSERT INTO configured_passwords VALUES ('user-1', 'digest')`).run();
  db.prepare(
    `INSERT INTO audit VALUES (1, 'event-1', 2, 'user_created', 'success', 'session', 'user-1', 'session-1', 'user',
      'user-2', '192.0.2.1', 'request-1', 0, '{}')`,
  ).run();
  db.prepare('UPDATE audit_state SET seq = 1, time = 2').run();
  const insert = db.prepare(
    `INSERT INTO api_keys (id, hash, label, hint, scopes, created, created_by) VALUES (?, ?, 'many', 'h', '[]', ?, 'x')`,
  );
  db.transaction(() => {
    for (let index = 0; index < manyKeys; index++)
      insert.run(`many-${index}`, hashOf(`many-${index}`), created);
  })();
  db.close();
}

function user(index: number, username: string): NewUser {
  return {
    id: `user-${index}`,
    username,
    displayName: index === 0 ? 'Zoë Q.' : null,
    email: index === 0 ? 'zoe@example.com' : '',
    passwordHash: index === 0 ? '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$aGFzaA' : null,
    scopes: ['store:read'],
    scopeSets: index === 0 ? ['administrator', 'set-1'] : [],
    disabled: index === 2,
    created: created + index,
    lastLogin: index === 0 ? Number.MAX_SAFE_INTEGER : null,
  };
}

function key(index: number): ApiKey {
  return {
    id: `key-${index}`,
    label: `label ${names[index]}`,
    hint: 'pst_abcd',
    scopes: ['store:read', 'store:write'],
    scopeSets: ['administrator', 'set-1'],
    created,
    createdBy: 'user-0',
    parent: index === 0 ? null : 'key-0',
    session: index === 0 ? 'session-1' : null,
    origin: index === 0 ? { issuer: 'https://login.example.com', subject: names[0]!, provider: 'idp' } : null,
    expires: index === 2 ? null : created + 1_000,
    lastUsed: index === 1 ? created : null,
  };
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}

/** Signing keys in each state: the first is retired, the second signs until the third can, which somebody asked for. */
async function fillSigningKeys(store: Records): Promise<void> {
  const series = { purpose: 'access-token', algorithm: 'ES256' } as const;
  const times = { rotateEveryMs: null, publishAheadMs: 0, lifetimeMs: 3_600_000 };
  for (const kid of ['first', 'second', 'third']) {
    const candidate = { ...series, kid, privateJwk: `{"kid":"${kid}"}` };
    await store.turnSigningKeys({ series, times, candidate, isRequested: kid !== 'first' });
    if (kid === 'second') await store.turnSigningKeys({ series, times, candidate: null });
  }
}
