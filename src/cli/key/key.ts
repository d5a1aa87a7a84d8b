import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { createdKeyEvent, keyEvent } from '../../administration/api-key-events.ts';
import { apiKeyWriteCreate, presentApiKey } from '../../administration/api-key-fields.ts';
import { operator } from '../../administration/caller.ts';
import { parseDuration } from '../../config/values/durations-and-sizes.ts';
import { mintApiKey } from '../../credentials/api-key.ts';
import { heldScopes, missingScopes } from '../../credentials/scopes.ts';
import { ValidationError } from '../../errors.ts';
import { validate } from '../../input/validate.ts';
import type { ApiKey, ListedApiKey, RemovedApiKey } from '../../stores/api-key.ts';
import type { KeyTransfer } from '../../stores/records.ts';
import type { User } from '../../stores/user.ts';
import { type Call, Failure } from '../command.ts';
import { allKeysOf, requireScopeSets, requireScopes, requireUser } from '../lookups.ts';
import { readableTime } from '../present.ts';
import { printJsonAlone, printResult, table } from '../terminal.ts';
import { isRefusal } from '../user/user-changes.ts';
import { type CommandContext, withStores } from '../with-stores.ts';

/** The last instant of a `Date` (ECMA-262 §21.4.1.1). */
const maxInstantMs = 8.64e15;

/** `key create`: a key for a user, shown only this time. */
export async function createKey(call: Call): Promise<void> {
  const name = call.requireText('user');
  const label = call.requireText('label');
  const setNames = call.texts('scope-set');
  const scopes = setNames.length > 0 ? (call.text('scopes') ?? '') : call.requireText('scopes');
  await withStores(call, async (context) => {
    const { config, records, catalogue, audit, now } = context;
    const sets = await requireScopeSets(context, setNames);
    const owner = await requireUser(context, name);
    const form = requireFields(context, {
      label,
      scopes: requireScopes(context, scopes),
      scope_sets: sets.map(({ id }) => id),
      expires: expiryOf(call.text('expires'), now()),
    });
    const minted = mintApiKey(config.api_keys.prefix, randomBytes);
    const key: ApiKey = {
      id: uuidv7(),
      label: form.label,
      hint: minted.hint,
      scopes: form.scopes,
      scopeSets: form.scope_sets.toSorted(),
      created: now(),
      createdBy: owner.id,
      parent: null,
      session: null,
      origin: null,
      expires: form.expires ?? defaultExpiry(context),
      lastUsed: null,
    };
    const wanted = { ownerId: owner.id, scopeSets: key.scopeSets };
    const change = {
      caller: operator.ref,
      decide: () => ({ key, hash: minted.hash }),
      audit: audit.withChange(operator, (made: ListedApiKey) => [createdKeyEvent(made.key)]),
    };
    await records.createApiKeyRecord(wanted, change).catch(async (error) => {
      // A scope set was removed in the meantime: this says which.
      if (isRefusal(error, 'conflict')) await requireScopeSets(context, setNames);
      throw isRefusal(error, 'not_authenticated')
        ? new Failure('failed', `${JSON.stringify(owner.username)} is disabled or was removed`)
        : error;
    });
    await warnOfScopesNotHeld(call, context, owner, heldScopes(key.scopes, sets, catalogue));
    const shown = presentApiKey({ key, owner, sets }, { hydrate: true, now: now(), catalogue });
    await printResult(call, { ...shown, key: minted.raw }, minted.raw);
  });
}

/** The operator may grant the missing scopes to the user later; until then the key can't use them. */
async function warnOfScopesNotHeld(
  { terminal }: Call,
  { records, holdings }: CommandContext,
  { id, username }: User,
  scopes: readonly string[],
): Promise<void> {
  const owner = await records.findUser(id);
  // What a provider grants counts in the owner's own sessions, and in keys minted in them.
  const held = new Set(owner === undefined ? [] : holdings.ofUser(owner, null).scopes);
  const missing = missingScopes(scopes, held);
  if (missing.length === 0) return;
  const who = JSON.stringify(username);
  const text = `${who} does not hold ${missing.join(' ')}: the key can use that once its user does`;
  terminal.stderr.write(`postern: ${text}\n`);
}

/** The fields by the rules of the HTTP API; throws Failure `usage` with every problem. */
function requireFields(
  { config, catalogue, now }: CommandContext,
  fields: Readonly<Record<'scopes' | 'scope_sets', readonly string[]>> & {
    readonly label: string;
    readonly expires?: string;
  },
) {
  try {
    const maxLifetimeMs = config.api_keys.max_lifetime ?? null;
    const schema = apiKeyWriteCreate({ catalogue: [...catalogue], maxLifetimeMs, now });
    return validate(schema, fields, { loc: 'body' });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const problems = error.problems.map(({ loc, msg }) => `--${loc[1]}: ${msg}`);
    throw new Failure('usage', problems.join('; '), error);
  }
}

/** A duration such as `30d` as the instant at which it ends; anything else stays for the rules of the API. */
function expiryOf(text: string | undefined, now: number): string | undefined {
  if (text === undefined || !/^\d{1,9}[smhd]$/.test(text)) return text;
  const end = now + parseDuration(text);
  return end > maxInstantMs ? text : new Date(end).toISOString();
}

/** Left out: as long as `api_keys.max_lifetime` allows. */
function defaultExpiry({ config, now }: CommandContext): number | null {
  const { max_lifetime: maxLifetime } = config.api_keys;
  return maxLifetime === undefined ? null : now() + maxLifetime;
}

/** `key list`: all keys, or those of a user, newest first; never a key itself. */
export async function listKeys(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    const name = call.text('user');
    const filters = name === undefined ? {} : { createdByEq: (await requireUser(context, name)).id };
    const found = await allKeysOf(context, filters);
    const header = ['ID', 'KEY', 'LABEL', 'USER', 'STATUS', 'EXPIRES', 'LAST USED', 'SCOPE SETS', 'SCOPES'];
    const shown = found.map((one) => present(context, one));
    const rows = shown.map((key, index) => [
      key.id,
      `${key.hint}…`,
      key.label,
      ownerOf(found[index]!),
      key.status,
      key.expires === null ? 'never' : readableTime(key.expires),
      key.last_used === null ? 'never' : readableTime(key.last_used),
      found[index]!.sets.map((set) => set.name).join(', '),
      key.scopes.join(' '),
    ]);
    await printResult(call, shown, rows.length === 0 ? 'There are no API keys.' : table(header, rows));
  });
}

function ownerOf({ owner, key }: ListedApiKey): string {
  return owner?.username ?? `${key.createdBy} (removed)`;
}

/** `key revoke ID`: the key stops working at once and, with `--children`, all that were minted with it, at any depth. */
export async function revokeKey(call: Call): Promise<void> {
  const id = call.operands[0]!;
  const children = call.isSet('children');
  await withStores(call, async (context) => {
    const { records, audit } = context;
    const found = await records.findApiKey(id);
    const subjectOf = (key: string) => (key === id ? (found?.key.createdBy ?? null) : null);
    const deleted = await records.deleteApiKey(
      id,
      { children },
      audit.withChange(operator, (keys: readonly RemovedApiKey[]) =>
        keys.map((key) => keyEvent('api_key_deleted', key, subjectOf(key.id))),
      ),
    );
    if (deleted.length === 0) throw noSuchKey(id);
    if (children) await printJsonAlone(call, deleted);
    else if (found !== undefined) await printJsonAlone(call, present(context, found));
  });
}

/** `key transfer ID --user NAME`: the key is that user's from now on, and bounded by what that user holds. */
export async function transferKey(call: Call): Promise<void> {
  const id = call.operands[0]!;
  const name = call.requireText('user');
  await withStores(call, async (context) => {
    const { records, catalogue, audit } = context;
    const newOwner = await requireUser(context, name);
    const moved = await records.transferApiKey(id, newOwner.id, {
      caller: operator.ref,
      decide: (transfer) => assertTransferable(transfer, name),
      audit: audit.withChange(operator, ({ key }) => [
        {
          ...keyEvent('api_key_transferred', key, newOwner.id),
          changes: { fields: ['created_by'] },
        },
      ]),
    });
    if (moved === undefined) throw noSuchKey(id);
    const { key, sets } = moved;
    await warnOfScopesNotHeld(call, context, newOwner, heldScopes(key.scopes, sets, catalogue));
    await printJsonAlone(call, present(context, moved));
  });
}

function assertTransferable({ found, newOwner }: KeyTransfer, name: string): void {
  const who = JSON.stringify(name);
  if (newOwner === undefined || newOwner.user.disabled)
    throw new Failure('failed', `${who} is disabled or was removed`);
  if (found.key.createdBy === newOwner.user.id) throw new Failure('failed', `the key is ${who}'s already`);
}

function noSuchKey(id: string): Failure {
  return new Failure('failed', `no key with id ${JSON.stringify(id)}`);
}

/** As the HTTP API shows it, plus what only operators see: the session it was minted with. */
function present({ catalogue, now }: CommandContext, found: ListedApiKey) {
  const shown = presentApiKey(found, { hydrate: true, now: now(), catalogue });
  return { ...shown, session: found.key.session };
}
