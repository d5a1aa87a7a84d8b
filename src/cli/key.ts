import { apiKeyWriteCreate, presentApiKey } from '../administration/api-key-fields.ts';
import { mintKey, revokeKey, transferKey } from '../administration/api-keys.ts';
import { operator } from '../administration/caller.ts';
import { parseDuration } from '../config/values/durations-and-sizes.ts';
import { isApiKey } from '../credentials/api-key.ts';
import { heldScopes, missingScopes } from '../credentials/scopes.ts';
import { isRefusal } from '../errors.ts';
import { jsonText } from '../log/json-text.ts';
import type { ListedApiKey } from '../stores/api-key.ts';
import type { KeyTransfer } from '../stores/records.ts';
import type { User } from '../stores/user.ts';
import { type Call, Failure } from './command.ts';
import { refusedAs, requireFields } from './failures.ts';
import { allKeys, requireScopeSets, requireScopes, requireUser } from './lookups.ts';
import { type Column, printTable } from './table.ts';
import { printJsonAlone, printResult, readableMinute, readableTime, tell } from './terminal.ts';
import { type CommandContext, withStores } from './with-stores.ts';

/** The last instant of a `Date` (ECMA-262 §21.4.1.1). */
const maxInstantMs = 8.64e15;

/** `key create`: creates a key for a user, and prints it this one time. */
export async function createKey(call: Call): Promise<void> {
  const name = call.requireText('user');
  const label = call.requireText('label');
  const setNames = call.texts('scope-set');
  const scopes = setNames.length > 0 ? (call.text('scopes') ?? '') : call.requireText('scopes');
  await withStores(call, async (context) => {
    const { config, catalogue, now } = context;
    const sets = await requireScopeSets(context, setNames);
    const owner = await requireUser(context, name);
    const maxLifetimeMs = config.api_keys.max_lifetime ?? null;
    const schema = apiKeyWriteCreate({ catalogue: [...catalogue], maxLifetimeMs, now });
    const fields = {
      label,
      scopes: requireScopes(context, scopes),
      scope_sets: sets.map(({ id }) => id),
      expires: expiryOf(call.text('expires'), now()),
    };
    const parts = { ...context, keyPrefix: config.api_keys.prefix, maxKeyLifetimeMs: maxLifetimeMs };
    const { listed, raw } = await mintKey(
      parts,
      operator,
      { id: owner.id, mustHold: false },
      requireFields(schema, fields, '--'),
    ).catch(async (error) => {
      if (!isRefusal(error, 'conflict') && !isRefusal(error, 'not_authenticated')) throw error;
      // If a scope set was removed in the meantime, this names it.
      await requireScopeSets(context, setNames);
      throw isUnusable(owner.username);
    });
    await warnOfScopesNotHeld(call, context, owner, heldScopes(listed.key.scopes, sets, catalogue));
    const shown = present(context, listed);
    await printResult(call, { ...shown, key: raw }, raw);
    const end = shown.expires === null ? '' : `; it expires at ${readableTime(shown.expires)}`;
    tell(call, `key ${jsonText(label)} of ${jsonText(owner.username)} is created, and not shown again${end}`);
  });
}

/** Warns about scopes of a key that its owner lacks: the key can't use them until the operator grants them to the owner. */
async function warnOfScopesNotHeld(
  { terminal }: Call,
  { records, holdings }: CommandContext,
  { id, username }: User,
  scopes: readonly string[],
): Promise<void> {
  const owner = await records.findUser(id);
  // A provider's grants count only in the owner's own sessions, and in keys minted in them.
  const held = new Set(owner === undefined ? [] : holdings.ofUser(owner, null).scopes);
  const missing = missingScopes(scopes, held);
  if (missing.length === 0) return;
  const who = jsonText(username);
  const text = `${who} does not hold ${missing.join(' ')}: the key can use that once its user does`;
  terminal.stderr.write(`postern: ${text}\n`);
}

/**
 * Converts a duration such as `30d` to the instant at which it ends; leaves other faults of an instant, and seconds of the epoch,
 * to the rules of the API. Throws Failure `usage` for any other text.
 */
function expiryOf(text: string | undefined, now: number): string | undefined {
  if (text === undefined || /^[+-]?\d+(?:\.\d*)?$/.test(text)) return text;
  if (/^\d{4}-\d\d-\d\d/.test(text)) {
    const [, day, time = 'T00:00:00'] = /^(.{10})([Tt]\d\d:\d\d:\d\d(?:\.\d+)?)?$/.exec(text) ?? [];
    const isDay = !Number.isNaN(Date.parse(`${text.slice(0, 10)}T00:00:00Z`));
    if (!isDay) throw new Failure('usage', `--expires names no day: ${jsonText(text.slice(0, 10))}`);
    if (day !== undefined && Date.parse(`${day}${time}Z`) > now)
      throw new Failure('usage', `--expires must say which time zone it means: ${day}${time}Z is in UTC`);
    if (day !== undefined || Date.parse(text) <= now)
      throw new Failure('usage', '--expires must be in the future, or a duration from now such as 30d');
    return text;
  }
  if (!/^\d{1,9}[smhd]$/.test(text))
    throw new Failure(
      'usage',
      '--expires must be a duration such as 12h or 30d (s, m, h, d), or an instant such as 2030-12-31T00:00:00Z',
    );
  const end = now + parseDuration(text);
  return end > maxInstantMs ? text : new Date(end).toISOString();
}

const columns: readonly Column[] = [
  { title: 'ID' },
  { title: 'LABEL', wraps: true },
  { title: 'USER', wraps: true },
  { title: 'STATUS' },
  { title: 'EXPIRES', leaves: 5, goesBelow: true },
  { title: 'LAST USED', leaves: 4, goesBelow: true },
  { title: 'KEY', leaves: 3, goesBelow: true },
  { title: 'SCOPE SETS', wraps: true, leaves: 2, goesBelow: true },
  { title: 'SCOPES', wraps: true, leaves: 1, goesBelow: true },
];

/** `key list`: prints all keys, or those of a user, newest first, without their secrets. */
export async function listKeys(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    const name = call.text('user');
    const owner = name === undefined ? undefined : await requireUser(context, name);
    const found = await allKeys(context, owner?.id);
    const shown = found.map((one) => present(context, one));
    const rows = shown.map((key, index) => [
      key.id,
      key.label,
      ownerOf(found[index]!),
      key.status,
      readableMinute(key.expires, 'never'),
      readableMinute(key.last_used, 'never'),
      `${key.hint}…`,
      found[index]!.sets.map((set) => set.name).join(', '),
      key.scopes.join(' '),
    ]);
    await printTable(call, shown, { columns, rows, none: 'There are no API keys.' });
  });
}

function ownerOf({ owner, key }: ListedApiKey): string {
  return owner?.username ?? `${key.createdBy} (removed)`;
}

/** `key revoke ID`: deletes a key, which stops working at once, and with `--children` all keys minted with it, at any depth. */
export async function deleteKey(call: Call): Promise<void> {
  const id = call.operands[0]!;
  const children = call.isSet('children');
  await withStores(call, async (context) => {
    const found = await context.records.findApiKey(id);
    const deleted = await revokeKey(context, operator, id, { children }).catch(noSuchKey(id));
    if (children) await printJsonAlone(call, deleted);
    else if (found !== undefined) await printJsonAlone(call, present(context, found));
    const what = found === undefined ? 'the key' : `key ${jsonText(found.key.label)}`;
    const others = deleted.length - 1;
    const minted = others === 0 ? '' : `, with ${others} minted with it`;
    tell(call, `${what} is deleted${minted}, and refused from now on`);
  });
}

/** `key transfer ID --user NAME`: gives the key to that user, whose rights bound it from now on. */
export async function giveKey(call: Call): Promise<void> {
  const id = call.operands[0]!;
  const name = call.requireText('user');
  await withStores(call, async (context) => {
    const newOwner = await requireUser(context, name);
    const judge = ({ found, newOwner: taker }: KeyTransfer) => {
      if (taker === undefined || taker.user.disabled) throw isUnusable(name);
      if (found.key.createdBy === taker.user.id)
        throw new Failure('failed', `the key is ${jsonText(name)}'s already`);
    };
    const moved = await transferKey(context, operator, id, newOwner.id, judge).catch(noSuchKey(id));
    const { key, sets } = moved;
    await warnOfScopesNotHeld(call, context, newOwner, heldScopes(key.scopes, sets, context.catalogue));
    await printJsonAlone(call, present(context, moved));
    tell(call, `key ${jsonText(key.label)} belongs to ${jsonText(newOwner.username)} now`);
  });
}

function isUnusable(username: string): Failure {
  return new Failure('failed', `${jsonText(username)} is disabled or was removed`);
}

function noSuchKey(id: string) {
  // A key in place of its id must not be repeated in a terminal or log.
  const what = isApiKey(id) ? 'that is a key, not the id of one' : `no key with id ${jsonText(id)}`;
  return refusedAs('not_found', `${what}: key list shows the ids`);
}

/** A key as the HTTP API shows it with `hydrate`. */
function present({ catalogue, now }: CommandContext, found: ListedApiKey) {
  return presentApiKey(found, { hydrate: true, now: now(), catalogue });
}
