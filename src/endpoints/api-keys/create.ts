import { uuidv7 } from 'uuidv7';
import type { z } from 'zod';
import { mintApiKey } from '../../credentials/api-key.ts';
import type { Principal } from '../../credentials/principal.ts';
import { heldScopes, missingScopes } from '../../credentials/scopes.ts';
import { Refusal, ValidationError } from '../../errors.ts';
import { everyProblem } from '../../input/every-problem.ts';
import { readJson } from '../../input/json-body.ts';
import { readQuery } from '../../input/query.ts';
import type { ApiKey } from '../../stores/api-key.ts';
import type { Records } from '../../stores/records.ts';
import { administratorSetId, type ScopeSet } from '../../stores/scope-set.ts';
import { type Audit, actorOf } from '../audit.ts';
import type { Call, Endpoint } from '../endpoint.ts';
import { apiKeyWriteCreate, hydrateQuery } from './api-key-schemas.ts';
import { presentApiKey } from './present-api-key.ts';

const neededScope = 'apikeys:write';

type NewKey = z.output<ReturnType<typeof apiKeyWriteCreate>>;

/** `POST /api/admin/api-keys/`: mints a key; nobody mints beyond what their own credential holds. */
export function createApiKeyCreate(options: {
  readonly records: Pick<Records, 'createApiKey' | 'deleteApiKey' | 'findScopeSets' | 'findUser'>;
  readonly catalogue: ReadonlySet<string>;
  readonly prefix: string;
  /** Milliseconds; null: a key may live for ever. */
  readonly maxLifetimeMs: number | null;
  readonly audit: Audit;
  readonly now: () => number;
  readonly random: (byteCount: number) => Uint8Array;
}): Endpoint {
  const { records, catalogue, prefix, maxLifetimeMs, audit, now, random } = options;
  const schema = apiKeyWriteCreate({ catalogue: [...catalogue].sort(), maxLifetimeMs, now });

  /** Absent: as long as allowed; beyond the minting key is not the caller's to give. */
  function expiryOf(asked: number | null | undefined, principal: Principal, instant: number): number | null {
    const own = principal.kind === 'api_key' ? principal.expires : null;
    if (asked === undefined) return earlier(maxLifetimeMs === null ? null : instant + maxLifetimeMs, own);
    if (own !== null && isLater(asked, own)) throw new Refusal('expiry_exceeds_caller');
    return asked;
  }

  /** The sets by id, as the key is read back. */
  async function requireSets(ids: readonly string[]): Promise<readonly ScopeSet[]> {
    const sets = await records.findScopeSets(ids);
    const unknown = ids.flatMap((id, index) => (sets.some((set) => set.id === id) ? [] : [{ id, index }]));
    if (unknown.length > 0)
      throw new ValidationError(
        unknown.map(({ id, index }) => ({
          type: 'value_error',
          loc: ['body', 'scope_sets', index],
          msg: 'Value error, no such scope set',
          input: id,
          ctx: { error: {} },
        })),
      );
    return sets.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Nobody mints beyond what their own credential holds. */
  function assertWithinOwn(form: NewKey, granted: readonly string[], caller: Principal): void {
    const scopes = missingScopes(granted, caller.held);
    const missing = scopes.length > 0 ? scopes : setsNotHeld(form.scope_sets, caller);
    if (missing.length > 0)
      throw new Refusal('insufficient_scope', {
        missingScopes: missing,
        neededScopes: [...new Set([...granted, neededScope])].sort(),
      });
  }

  async function mint(form: NewKey, sets: readonly ScopeSet[], caller: Principal, recheck: Call['recheck']) {
    const instant = now();
    const expires = expiryOf(form.expires, caller, instant);
    const granted = heldScopes(form.scopes, sets, catalogue);
    assertWithinOwn(form, granted, caller);
    const minted = mintApiKey(prefix, random);
    const key: ApiKey = {
      id: uuidv7(),
      label: form.label,
      hint: minted.hint,
      scopes: form.scopes.toSorted(),
      scopeSets: form.scope_sets.toSorted(),
      created: instant,
      createdBy: caller.userId,
      parent: caller.kind === 'api_key' ? caller.credentialId : null,
      session: caller.kind === 'session' ? caller.credentialId : null,
      expires,
      lastUsed: null,
    };
    await records.createApiKey(key, minted.hash);
    try {
      assertWithinOwn(form, granted, await recheck());
    } catch (error) {
      // The caller lost the right while the key was written; nobody has been given it yet.
      await records.deleteApiKey(key.id, { children: false });
      throw error;
    }
    return { key, raw: minted.raw };
  }

  return {
    method: 'POST',
    path: '/api/admin/api-keys',
    guard: { scopes: [neededScope] },
    async handle({ exchange, principal: caller, body, recheck }) {
      const [{ hydrate }, form] = everyProblem(
        () => readQuery(exchange.query, hydrateQuery),
        () => readJson(body, exchange.head.contentType, schema),
      );
      const sets = await requireSets(form.scope_sets);
      const about = { actor: actorOf(caller), subject: caller.userId };
      const { key, raw } = await mint(form, sets, caller, recheck).catch((error) => {
        if (error instanceof Refusal && error.status < 500)
          audit(exchange, { event: 'api_key_refused', outcome: 'failure', ...about, reason: error.code });
        throw error;
      });
      audit(exchange, { event: 'api_key_created', outcome: 'success', ...about, key: key.id });
      const { userId, username } = caller;
      const owner = username === null ? null : { id: userId, username, disabled: false };
      const shown = presentApiKey({ key, owner, sets }, { hydrate, now: key.created, catalogue });
      return { status: 201, body: { ...shown, key: raw } };
    },
  };
}

function isLater(asked: number | null, latest: number): boolean {
  return asked === null || asked > latest;
}

function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/**
 * The sets that are not the caller's to hand on: a key that holds a set grows with it, so that all of its scopes today
 * are not enough. Whoever holds the administrator set holds every other.
 */
function setsNotHeld(ids: readonly string[], { scopeSets }: Principal): readonly string[] {
  if (scopeSets.includes(administratorSetId)) return [];
  return ids.filter((id) => !scopeSets.includes(id));
}
