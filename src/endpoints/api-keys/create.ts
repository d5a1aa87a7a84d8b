import { uuidv7 } from 'uuidv7';
import type { z } from 'zod';
import { mintApiKey } from '../../credentials/api-key.ts';
import type { Principal } from '../../credentials/principal.ts';
import { heldScopes, missingScopes } from '../../credentials/scopes.ts';
import { Refusal } from '../../errors.ts';
import { everyProblem } from '../../input/every-problem.ts';
import { readJson } from '../../input/json-body.ts';
import { readQuery } from '../../input/query.ts';
import type { AuditEventName } from '../../log/audit-events.ts';
import type { ApiKey } from '../../stores/api-key.ts';
import type { Records } from '../../stores/records.ts';
import { administratorSetId, type ScopeSet } from '../../stores/scope-set.ts';
import { type Audit, actorOf } from '../audit.ts';
import type { ChangeAudit, ChangeEntry } from '../change-audit.ts';
import type { Call, Endpoint } from '../endpoint.ts';
import { requireScopeSets } from '../scope-set-ids.ts';
import { apiKeyWriteCreate, hydrateQuery } from './api-key-schemas.ts';
import { presentApiKey } from './present-api-key.ts';

const neededScope = 'apikeys:write';

/** What minting needs. */
export interface ApiKeyCreateOptions {
  readonly records: Pick<Records, 'createApiKey' | 'deleteApiKey' | 'findScopeSets' | 'findUser'>;
  readonly catalogue: ReadonlySet<string>;
  readonly prefix: string;
  /** Milliseconds; null: no bound. */
  readonly maxLifetimeMs: number | null;
  readonly audit: Audit;
  readonly changeAudit: ChangeAudit;
  readonly now: () => number;
  readonly random: (byteCount: number) => Uint8Array;
}

/** `POST /api/admin/api-keys/`: mints a key, within what the calling credential holds. */
export function createApiKeyCreate(options: ApiKeyCreateOptions): Endpoint {
  const { records, catalogue, maxLifetimeMs, audit, now } = options;
  const schema = apiKeyWriteCreate({ catalogue: [...catalogue].sort(), maxLifetimeMs, now });
  return {
    method: 'POST',
    path: '/api/admin/api-keys',
    guard: { scopes: [neededScope] },
    async handle(call) {
      const { exchange, principal, body } = call;
      const [{ hydrate }, form] = everyProblem(
        () => readQuery(exchange.query, hydrateQuery),
        () => readJson(body, exchange.head.contentType, schema),
      );
      const sets = await requireScopeSets(records, form.scope_sets);
      const { userId, username } = principal;
      const about = { actor: actorOf(principal), subject: userId };
      const { key, raw } = await new Minting(form, sets, options).mint(call).catch((error) => {
        if (error instanceof Refusal && error.status < 500)
          audit(exchange, { event: 'api_key_refused', outcome: 'failure', ...about, reason: error.code });
        throw error;
      });
      const owner = username === null ? null : { id: userId, username, disabled: false };
      const shown = presentApiKey({ key, owner, sets }, { hydrate, now: key.created, catalogue });
      return { status: 201, body: { ...shown, key: raw } };
    },
  };
}

type NewKey = z.output<ReturnType<typeof apiKeyWriteCreate>>;

/** One key from its form to the store. */
class Minting {
  readonly #form: NewKey;
  readonly #options: ApiKeyCreateOptions;
  /** The scopes it will hold, those of its sets included. */
  readonly #granted: readonly string[];

  constructor(form: NewKey, sets: readonly ScopeSet[], options: ApiKeyCreateOptions) {
    this.#form = form;
    this.#options = options;
    this.#granted = heldScopes(form.scopes, sets, options.catalogue);
  }

  async mint({
    exchange,
    principal: caller,
    recheck,
  }: Call): Promise<{ readonly key: ApiKey; readonly raw: string }> {
    const { records, prefix, changeAudit, random, now } = this.#options;
    const instant = now();
    const expires = this.#expiry(caller, instant);
    this.#assertWithinOwn(caller);
    const { raw, hint, hash } = mintApiKey(prefix, random);
    const key: ApiKey = {
      id: uuidv7(),
      label: this.#form.label,
      hint,
      scopes: this.#form.scopes.toSorted(),
      scopeSets: this.#form.scope_sets.toSorted(),
      created: instant,
      createdBy: caller.userId,
      parent: caller.kind === 'api_key' ? caller.credentialId : null,
      session: caller.kind === 'session' ? caller.credentialId : null,
      expires,
      lastUsed: null,
    };
    const created = changeAudit(exchange, () => [entryOf('api_key_created', key, caller)]);
    const revoked = changeAudit(exchange, (ids: readonly string[]) =>
      ids.map(() => entryOf('api_key_deleted', key, caller)),
    );
    await records.createApiKey(key, hash, created);
    try {
      this.#assertWithinOwn(await recheck());
    } catch (error) {
      // The caller lost the right while the key was written; the key has not been shown yet.
      await records.deleteApiKey(key.id, { children: false }, revoked);
      throw error;
    }
    return { key, raw };
  }

  /** If absent, as late as allowed; a key minted with a key never outlives it. */
  #expiry(caller: Principal, instant: number): number | null {
    const { maxLifetimeMs } = this.#options;
    const asked = this.#form.expires;
    const own = caller.kind === 'api_key' ? caller.expires : null;
    if (asked === undefined) return earlier(maxLifetimeMs === null ? null : instant + maxLifetimeMs, own);
    if (own !== null && isLater(asked, own)) throw new Refusal('expiry_exceeds_caller');
    return asked;
  }

  /** No key exceeds what the credential that mints it holds. */
  #assertWithinOwn(caller: Principal): void {
    const scopes = missingScopes(this.#granted, caller.held);
    const missing = scopes.length > 0 ? scopes : setsNotHeld(this.#form.scope_sets, caller);
    if (missing.length > 0)
      throw new Refusal('insufficient_scope', {
        missingScopes: missing,
        neededScopes: [...new Set([...this.#granted, neededScope])].sort(),
      });
  }
}

function entryOf(event: AuditEventName, { id, scopes, scopeSets }: ApiKey, caller: Principal): ChangeEntry {
  const granted = (added: readonly string[]) => ({ added, removed: [] });
  return {
    event,
    outcome: 'success',
    actor: actorOf(caller),
    subject: caller.userId,
    key: id,
    target: { type: 'api_key', id },
    ...(event === 'api_key_created' && {
      changes: { scopes: granted(scopes), scope_sets: granted(scopeSets) },
    }),
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
 * The sets that the caller can't hand on: a key that holds a set grows with it, so holding all of its scopes today is
 * not enough. A holder of the administrator set holds every other set.
 */
function setsNotHeld(ids: readonly string[], { scopeSets }: Principal): readonly string[] {
  if (scopeSets.includes(administratorSetId)) return [];
  return ids.filter((id) => !scopeSets.includes(id));
}
