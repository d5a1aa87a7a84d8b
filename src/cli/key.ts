import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { parseDuration } from '../config/durations-and-sizes.ts';
import { mintApiKey } from '../credentials/api-key.ts';
import { heldScopes, missingScopes } from '../credentials/scopes.ts';
import { apiKeyWriteCreate } from '../endpoints/api-keys/api-key-schemas.ts';
import { presentApiKey } from '../endpoints/api-keys/present-api-key.ts';
import { Refusal, ValidationError } from '../errors.ts';
import { validate } from '../input/validate.ts';
import type { ApiKey, ListedApiKey } from '../stores/api-key.ts';
import type { User } from '../stores/user.ts';
import { type Call, Failure } from './command.ts';
import { allKeysOf, requireScopeSets, requireScopes, requireUser } from './lookups.ts';
import { printJsonAlone, printResult, table } from './terminal.ts';
import { type CommandContext, withStores } from './with-stores.ts';

/** The last instant of a `Date` (ECMA-262 §21.4.1.1). */
const maxInstantMs = 8.64e15;

/** `key create`: a key for a user, shown only this time. */
export async function createKey(call: Call): Promise<void> {
  const name = call.requireText('user');
  const label = call.requireText('label');
  const scopes = call.requireText('scopes');
  await withStores(call, async (context) => {
    const { config, records, catalogue, audit, now } = context;
    const sets = await requireScopeSets(context, call.texts('scope-set'));
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
      expires: form.expires ?? defaultExpiry(context),
      lastUsed: null,
    };
    try {
      await records.createApiKey(key, minted.hash);
    } catch (error) {
      const mayNotMint = error instanceof Refusal && error.code === 'not_authenticated';
      throw mayNotMint
        ? new Failure('failed', `${JSON.stringify(owner.username)} is disabled or was removed`)
        : error;
    }
    audit({ event: 'api_key_created', subject: owner.id, key: key.id });
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
  const held = new Set(owner === undefined ? [] : holdings.ofUser(owner).scopes);
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

/** `key list`: all keys, newest first; never a key itself. */
export async function listKeys(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    const found = await allKeysOf(context, {});
    const header = ['ID', 'KEY', 'LABEL', 'USER', 'STATUS', 'EXPIRES', 'LAST USED', 'SCOPES'];
    const rows = found.map((one) => {
      const { id, hint, label, status, expires, last_used, scopes } = present(context, one);
      const user = one.owner?.username ?? `${one.key.createdBy} (removed)`;
      return [
        id,
        `${hint}…`,
        label,
        user,
        status,
        expires ?? 'never',
        last_used ?? 'never',
        scopes.join(' '),
      ];
    });
    const shown = found.map((one) => present(context, one));
    await printResult(call, shown, table(header, rows));
  });
}

/** `key revoke ID`: the key stops working at once and, with `--children`, all that were minted with it, at any depth. */
export async function revokeKey(call: Call): Promise<void> {
  const id = call.operands[0]!;
  const children = call.isSet('children');
  await withStores(call, async (context) => {
    const { records, audit } = context;
    const found = await records.findApiKey(id);
    const deleted = await records.deleteApiKey(id, { children });
    if (deleted.length === 0) throw new Failure('failed', `no key with id ${JSON.stringify(id)}`);
    for (const key of deleted)
      audit({ event: 'api_key_deleted', subject: key === id ? (found?.key.createdBy ?? null) : null, key });
    if (children) await printJsonAlone(call, deleted);
    else if (found !== undefined) await printJsonAlone(call, present(context, found));
  });
}

/** As the HTTP API shows it, plus what only operators see: the session it was minted with. */
function present({ catalogue, now }: CommandContext, found: ListedApiKey) {
  const shown = presentApiKey(found, { hydrate: true, now: now(), catalogue });
  return { ...shown, session: found.key.session };
}
