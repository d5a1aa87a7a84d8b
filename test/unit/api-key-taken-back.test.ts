import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { MintParts } from '../../src/administration/api-keys.ts';
import { Audit } from '../../src/administration/audit.ts';
import { createHoldings } from '../../src/credentials/holdings.ts';
import { createPrincipal } from '../../src/credentials/principal.ts';
import { apiKeysCreate } from '../../src/endpoints/api-keys/change.ts';
import type { Call } from '../../src/endpoints/endpoint.ts';
import type { EndpointParts } from '../../src/endpoints/endpoint-parts.ts';
import { Refusal } from '../../src/errors.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import type { Records } from '../../src/stores/records.ts';

const catalogue = new Set(['apikeys:write', 'store:read']);

function callerWith(scopes: readonly string[]) {
  return createPrincipal({
    kind: 'session',
    userId: 'u',
    username: 'ada',
    displayName: null,
    email: null,
    scopes,
    scopeSets: [],
    credentialId: 's',
    expires: null,
    tenant: 'acme',
  });
}

const takenBack = ['api_key_created', 'api_key_deleted', 'api_key_refused'];

/** Mints a key for a caller of whom `recheck` says something else once it is written; what then is left. */
async function mintAndLose(recheck: Call['recheck']) {
  const keys = new Set<string>();
  const events: string[] = [];
  const parts: MintParts & { readonly records: Pick<Records, 'findScopeSets'> } = {
    records: {
      async createApiKeyRecord(_wanted, { decide, audit }) {
        const { key } = decide({ owner: undefined, sets: [] }, { kind: 'command_line' });
        keys.add(key.id);
        const listed = { key, owner: null, sets: [], version: 1 };
        audit.onWritten(audit.drafts(listed));
        return listed;
      },
      async deleteApiKey(id, _options, audit) {
        const deleted = keys.delete(id) ? [id] : [];
        audit?.onWritten(audit.drafts(deleted.map((one) => ({ id: one, label: 'a', createdBy: 'u' }))));
        return deleted;
      },
      findScopeSets: () => [],
    },
    catalogue,
    holdings: createHoldings(catalogue, {}),
    keyPrefix: 'pst',
    maxKeyLifetimeMs: null,
    audit: new Audit({ log: { audit: ({ event }) => void events.push(event) }, keep() {}, now: Date.now }),
    now: Date.now,
    random: randomBytes,
    onCredentialEnded() {},
  };
  const handle = apiKeysCreate.create(parts as EndpointParts);
  const call: Call = {
    exchange: { query: '', head: { contentType: 'application/json', userAgent: '' } } as unknown as Exchange,
    principal: callerWith([...catalogue]),
    id: '',
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify({ label: 'late', scopes: ['store:read'] })),
    recheck,
  };
  const outcome = await handle(call).then(
    ({ status }) => status,
    (error) => error.code,
  );
  return { outcome, keys: keys.size, events };
}

t.test('a key is revoked when its caller is signed out while it is written', async (t) => {
  const left = await mintAndLose(() => Promise.reject(new Refusal('invalid_token')));
  t.strictSame(left, { outcome: 'invalid_token', keys: 0, events: takenBack });
});

t.test('a key is revoked when its caller loses the scope while it is written', async (t) => {
  const left = await mintAndLose(async () => callerWith(['apikeys:write']));
  t.strictSame(left, { outcome: 'insufficient_scope', keys: 0, events: takenBack });
});

t.test('a key stays when its caller may still mint it', async (t) => {
  const left = await mintAndLose(async () => callerWith([...catalogue]));
  t.strictSame(left, { outcome: 201, keys: 1, events: ['api_key_created'] });
});
