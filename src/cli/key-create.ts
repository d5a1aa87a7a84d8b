import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { mintApiKey } from '../credentials/api-key.ts';
import { heldScopes, missingScopes } from '../credentials/scopes.ts';
import { apiKeyWriteCreate } from '../endpoints/api-keys/api-key-schemas.ts';
import { presentApiKey } from '../endpoints/api-keys/present-api-key.ts';
import { Refusal, ValidationError } from '../errors.ts';
import { validate } from '../input/validate.ts';
import type { ApiKey, User } from '../stores/records.ts';
import { requireUser } from './accounts.ts';
import type { Call } from './command.ts';
import { Failure } from './failure.ts';
import { printResult } from './output.ts';
import { requireScopeSets, requireScopes } from './scopes.ts';
import { type Workplace, withStores } from './with-stores.ts';

/** `key create`: a key in the name of a user, shown this once. */
export async function createKey(call: Call): Promise<void> {
  const name = call.requireText('user');
  const label = call.requireText('label');
  const scopes = call.requireText('scopes');
  await withStores(call, async (workplace) => {
    const { config, records, catalogue, audit, now } = workplace;
    const sets = await requireScopeSets(workplace, call.texts('scope-set'));
    const owner = await requireUser(workplace, name);
    const form = requireFields(workplace, {
      label,
      scopes: requireScopes(workplace, scopes),
      scope_sets: sets.map(({ id }) => id),
      expires: call.text('expires'),
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
      expires: form.expires ?? defaultExpiry(workplace),
      lastUsed: null,
    };
    try {
      await records.createApiKey(key, minted.hash);
    } catch (error) {
      const mayNotMint = error instanceof Refusal && error.code === 'not_authenticated';
      throw mayNotMint
        ? new Failure('failed', `${JSON.stringify(owner.username)} is disabled or gone`)
        : error;
    }
    audit({ event: 'api_key_created', subject: owner.id, key: key.id });
    await warnOfScopesNotHeld(call, workplace, owner, heldScopes(key.scopes, sets, catalogue));
    const shown = presentApiKey({ key, owner, sets }, { hydrate: true, now: now(), catalogue });
    await printResult(call, { ...shown, key: minted.raw }, minted.raw);
  });
}

/** The operator may be about to give the user what is missing; until then the key can't use it. */
async function warnOfScopesNotHeld(
  { terminal }: Call,
  { records, holdings }: Workplace,
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
  { config, catalogue, now }: Workplace,
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

/** Left out: as long as `api_keys.max_lifetime` allows. */
function defaultExpiry({ config, now }: Workplace): number | null {
  const { max_lifetime: maxLifetime } = config.api_keys;
  return maxLifetime === undefined ? null : now() + maxLifetime;
}
