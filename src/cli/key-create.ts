import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { mintApiKey } from '../credentials/api-key.ts';
import { apiKeyWriteCreate } from '../endpoints/api-keys/api-key-schemas.ts';
import { presentApiKey } from '../endpoints/api-keys/present-api-key.ts';
import { Refusal, ValidationError } from '../errors.ts';
import { validate } from '../http/validate.ts';
import type { ApiKey } from '../stores/records.ts';
import { requireUser } from './accounts.ts';
import type { Call } from './command.ts';
import { Failure } from './failure.ts';
import { printResult } from './output.ts';
import { requireScopes } from './scopes.ts';
import { type Workplace, withStores } from './with-stores.ts';

/** `key create`: a key in the name of a user, shown this once. */
export async function createKey(call: Call): Promise<void> {
  const name = call.requireText('user');
  const label = call.requireText('label');
  const scopes = call.requireText('scopes');
  await withStores(call, async (workplace) => {
    const { config, records, catalogue, audit, now } = workplace;
    const owner = await requireUser(workplace, name);
    const form = requireFields(workplace, {
      label,
      scopes: requireScopes(workplace, scopes),
      expires: call.text('expires'),
    });
    const minted = mintApiKey(config.api_keys.prefix, randomBytes);
    const key: ApiKey = {
      id: uuidv7(),
      label: form.label,
      hint: minted.hint,
      scopes: form.scopes,
      scopeSets: [],
      created: now(),
      createdBy: owner.id,
      parent: null,
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
    const shown = presentApiKey({ key, owner, sets: [] }, { hydrate: true, now: now(), catalogue });
    await printResult(call, { ...shown, key: minted.raw }, minted.raw);
  });
}

/** The fields by the rules of the HTTP API; throws Failure `usage` with every problem. */
function requireFields(
  { config, catalogue, now }: Workplace,
  fields: { readonly label: string; readonly scopes: readonly string[]; readonly expires?: string },
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
