import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONWebKeySet } from 'jose';
import type { Test } from 'tap';
import t from 'tap';
import { KeyCopy, KeyWatch } from '../support/administration/key-watch.ts';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestGateway,
} from '../support/gateway/gateway.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';
import type { StoresConfig } from '../support/stores/stores-config.ts';

const { username, password } = administrator;
const minute = 60_000;
const stepMs = 30_000;
const rotateEveryMs = 12 * minute;
const publishAheadMs = 10 * minute;
const accessLifetimeMs = 4 * minute;
/** How long a service may keep its copy of the published keys, ms. */
const copyMs = 5 * minute;
const steps = (3.5 * rotateEveryMs) / stepMs;
/** What a key is kept for besides the lives of its tokens: a store that is away, and clocks that differ. */
const keptBesidesMs = 30_000 + 60_000;

t.setTimeout(240_000);

/** Two gateways on one store, and a clock that both of them and every client go by. */
class Replicas {
  readonly gateways: readonly TestGateway[];
  elapsedMs = 0;

  constructor(gateways: readonly TestGateway[]) {
    this.gateways = gateways;
  }

  advance(milliseconds: number): void {
    for (const gateway of this.gateways) gateway.advance(milliseconds);
    this.elapsedMs += milliseconds;
  }

  now(): number {
    return Date.now() + this.elapsedMs;
  }

  any(): TestGateway {
    return this.gateways[Math.floor(Math.random() * this.gateways.length)]!;
  }
}

async function startReplicas(t: Test, stores: StoresConfig): Promise<Replicas> {
  const config = {
    ...stores,
    tokens: { access_lifetime: '4m' },
    signing_keys: { rotate_every: '12m', publish_ahead: '10m' },
  };
  const first = await startTestGateway(t, { config });
  const second = await startTestGateway(t, { config, folder: first.folder });
  await first.api.activate(username, password, bootstrapToken);
  return new Replicas([first, second]);
}

/** The keys that any of the gateways publishes. */
async function publishedBy(replicas: Replicas): Promise<JSONWebKeySet> {
  return (await replicas.any().api.send({ path: '/.well-known/jwks.json' })).json;
}

/** Looks at what each gateway publishes, without a copy. */
async function look(watch: KeyWatch, { gateways, elapsedMs }: Replicas): Promise<void> {
  for (const { api } of gateways)
    watch.published((await api.send({ path: '/.well-known/jwks.json' })).json, elapsedMs);
}

/** Someone who is signed in, refreshes at each step, and keeps tokens to their end. */
class Client {
  #cookie = '';
  #tokens: { readonly token: string; readonly until: number }[] = [];

  async signIn(replicas: Replicas, watch: KeyWatch): Promise<void> {
    const { accessToken, cookie } = await replicas.any().api.signIn(username, password);
    this.#cookie = cookie;
    this.#keep(accessToken, replicas, watch);
  }

  async step(t: Test, replicas: Replicas, watch: KeyWatch, services: readonly KeyCopy[]): Promise<void> {
    const refreshed = await replicas.any().api.refresh(this.#cookie);
    if (refreshed.status !== 200) t.fail(`a cookie was refused with ${refreshed.status} ${refreshed.text}`);
    else this.#keep(refreshed.json.access_token, replicas, watch);
    this.#cookie = refreshed.setCookies[0]?.split(';', 1)[0] ?? this.#cookie;
    this.#tokens = this.#tokens.filter(({ until }) => until > replicas.elapsedMs);
    for (const { token } of this.#tokens) {
      for (const service of services)
        await service
          .verify(token, replicas.now())
          .catch((error) => t.fail(`a service refused a token: ${error}`));
      const { status } = await replicas.any().api.send({ path: '/api/else', bearer: token });
      if (status !== 200) t.fail(`a gateway refused a token with ${status}`);
    }
  }

  #keep(token: string, replicas: Replicas, watch: KeyWatch): void {
    watch.signed(token, replicas.elapsedMs);
    // A second less than it says: the clock goes on while a request is under way.
    this.#tokens.push({ token, until: replicas.elapsedMs + accessLifetimeMs - 5_000 });
  }
}

testOnEveryStore('over rotations no valid token and no cookie is refused', async (t, stores) => {
  const replicas = await startReplicas(t, stores);
  const watch = new KeyWatch();
  await look(watch, replicas);
  const services = Array.from({ length: 3 }, () => new KeyCopy(() => publishedBy(replicas), copyMs));
  const clients = Array.from({ length: 3 }, () => new Client());
  for (const client of clients) await client.signIn(replicas, watch);
  // Its cookies and tokens are of the first secret and key, used for the first time at the end.
  const late = await replicas.any().api.signIn(username, password);
  for (let step = 0; step < steps; step += 1) {
    replicas.advance(stepMs);
    // As long as the gateways may take to notice what time it is.
    await sleep(120);
    await look(watch, replicas);
    await Promise.all(clients.map((client) => client.step(t, replicas, watch, services)));
  }
  t.equal((await replicas.any().api.refresh(late.cookie)).status, 200, 'an old cookie is accepted');

  const used = watch.used();
  t.ok(used.length >= 4, `${used.length} keys signed`);
  for (const [index, key] of used.entries()) {
    if (index > 0) t.ok(key.signed! - key.published >= publishAheadMs - stepMs, 'published before it signed');
    const isOver = replicas.elapsedMs - key.lastSigned! > accessLifetimeMs + keptBesidesMs + 4 * stepMs;
    if (!isOver) continue;
    const keptMs = key.lastPublished - key.lastSigned!;
    t.ok(keptMs >= accessLifetimeMs, 'published for as long as its tokens live');
    t.ok(keptMs <= accessLifetimeMs + keptBesidesMs + 3 * stepMs, 'and no longer');
  }
  const rotations = replicas.gateways
    .flatMap((gateway) => gateway.logLines())
    .filter(({ event }) => event === 'signing_key_rotated');
  t.equal(
    new Set(rotations.map(({ target }) => (target as { readonly id: string }).id)).size,
    rotations.length,
    'each rotation happened once',
  );
});
