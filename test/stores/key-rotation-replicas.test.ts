import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import type { Test } from 'tap';
import t from 'tap';
import { testOnEveryStore } from '../support/every-store.ts';
import { administrator, bootstrapToken, startTestGateway, type TestGateway } from '../support/gateway.ts';
import type { StoresConfig } from '../support/stores-config.ts';

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

  now(): Date {
    return new Date(Date.now() + this.elapsedMs);
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

/** When each key was first published and last published, and when it first and last signed, by the tests' clock. */
interface Seen {
  published: number;
  lastPublished: number;
  signed?: number;
  lastSigned?: number;
}

/** Watches what the gateways publish, without a copy. */
class KeyWatch {
  readonly seen = new Map<string, Seen>();

  async look({ gateways, elapsedMs }: Replicas): Promise<void> {
    for (const { api } of gateways) {
      const { keys } = (await api.send({ path: '/.well-known/jwks.json' })).json as JSONWebKeySet;
      for (const { kid } of keys) {
        const known = this.seen.get(kid!) ?? { published: elapsedMs, lastPublished: elapsedMs };
        this.seen.set(kid!, { ...known, lastPublished: elapsedMs });
      }
    }
  }

  signed(token: string, { elapsedMs }: Replicas): void {
    const { kid } = decodeProtectedHeader(token);
    const known = this.seen.get(kid!) ?? { published: elapsedMs, lastPublished: elapsedMs };
    this.seen.set(kid!, { ...known, signed: known.signed ?? elapsedMs, lastSigned: elapsedMs });
  }
}

/** A service that verifies tokens by a copy of the published keys. */
class Service {
  #copy: { readonly jwks: JSONWebKeySet; readonly at: number } | undefined;

  /** Throws when the token is refused. */
  async verify(token: string, replicas: Replicas): Promise<void> {
    if (this.#copy === undefined || replicas.elapsedMs - this.#copy.at >= copyMs) {
      const { json } = await replicas.any().api.send({ path: '/.well-known/jwks.json' });
      this.#copy = { jwks: json, at: replicas.elapsedMs };
    }
    await jwtVerify(token, createLocalJWKSet(this.#copy.jwks), { currentDate: replicas.now() });
  }
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

  async step(t: Test, replicas: Replicas, watch: KeyWatch, services: readonly Service[]): Promise<void> {
    const refreshed = await replicas.any().api.refresh(this.#cookie);
    if (refreshed.status !== 200) t.fail(`a cookie was refused with ${refreshed.status} ${refreshed.text}`);
    else this.#keep(refreshed.json.access_token, replicas, watch);
    this.#cookie = refreshed.setCookies[0]?.split(';', 1)[0] ?? this.#cookie;
    this.#tokens = this.#tokens.filter(({ until }) => until > replicas.elapsedMs);
    for (const { token } of this.#tokens) {
      for (const service of services)
        await service.verify(token, replicas).catch((error) => t.fail(`a service refused a token: ${error}`));
      const { status } = await replicas.any().api.send({ path: '/api/else', bearer: token });
      if (status !== 200) t.fail(`a gateway refused a token with ${status}`);
    }
  }

  #keep(token: string, replicas: Replicas, watch: KeyWatch): void {
    watch.signed(token, replicas);
    // A second less than it says: the clock goes on while a request is under way.
    this.#tokens.push({ token, until: replicas.elapsedMs + accessLifetimeMs - 5_000 });
  }
}

testOnEveryStore('over rotations no valid token and no cookie is refused', async (t, stores) => {
  const replicas = await startReplicas(t, stores);
  const watch = new KeyWatch();
  await watch.look(replicas);
  const services = Array.from({ length: 3 }, () => new Service());
  const clients = Array.from({ length: 3 }, () => new Client());
  for (const client of clients) await client.signIn(replicas, watch);
  // Its cookies and tokens are of the first secret and key, used for the first time at the end.
  const late = await replicas.any().api.signIn(username, password);
  for (let step = 0; step < steps; step += 1) {
    replicas.advance(stepMs);
    // As long as the gateways may take to notice what time it is.
    await sleep(120);
    await watch.look(replicas);
    await Promise.all(clients.map((client) => client.step(t, replicas, watch, services)));
  }
  t.equal((await replicas.any().api.refresh(late.cookie)).status, 200, 'an old cookie is accepted');

  const keys = [...watch.seen.values()].sort((one, other) => one.published - other.published);
  const used = keys.filter(({ signed }) => signed !== undefined);
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
