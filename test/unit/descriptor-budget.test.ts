import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/sections/schema.ts';
import { DescriptorBudget, type PooledUpstream } from '../../src/runtime/descriptor-budget.ts';
import { outboundNeeds, storeNeeds } from '../../src/runtime/descriptor-needs.ts';
import { testConfig } from '../support/gateway/gateway.ts';

const app = { url: 'http://127.0.0.1:9000' };
const file = join(t.testdir(), 'postern.yaml');

/** The configuration of the tests with these sections, loaded. */
function configOf(overrides: object): Config {
  writeFileSync(file, stringify(testConfig(app.url, overrides)));
  const { config, problems } = loadConfig(file, {});
  if (config === undefined) throw new Error(JSON.stringify(problems));
  return config;
}

/** Clients that are open, and the limit that was set last. */
function createListener() {
  const listener = {
    sockets: 0,
    most: Number.NaN,
    limitConnections(count: number) {
      listener.most = count;
    },
  };
  return listener;
}

/** A pool whose load is set by the test; `closed` counts what it was made to close. */
function createPool() {
  const load = { busy: 0, free: 0, upgraded: 0, waiting: 0 };
  const pool = {
    load,
    closed: 0,
    pooled: {
      descriptors: 1,
      upstream: {
        load: () => load,
        closeFree() {
          if (load.free === 0) return false;
          load.free -= 1;
          pool.closed += 1;
          return true;
        },
      },
    } satisfies PooledUpstream,
  };
  return pool;
}

/** A budget that serves, with the warnings it has logged. */
function serve(overrides: object, limit: number) {
  const config = configOf({ upstreams: { app }, ...overrides });
  const budget = new DescriptorBudget(config, limit, 25);
  const pool = createPool();
  const share = budget.openPools(config, [pool.pooled]);
  const listener = createListener();
  const warnings: object[] = [];
  budget.applyTo(listener, config, { warn: (message, fields) => warnings.push({ message, ...fields }) });
  return { config, budget, pool, share, listener, warnings };
}

t.test('what stores need follows their kind', async (t) => {
  const of = (stores: object) => storeNeeds(configOf({ stores }));
  const sqlite = of({});
  t.equal(sqlite, 15, 'two SQLite files');
  const records = 'postgres://postern@db.example.com/app';
  t.equal(of({ records }) - sqlite, 5, 'eight connections and one that listens, in place of a file');
  t.equal(of({ records, records_connections: 100 }) - of({ records }), 92);
  t.equal(of({ sessions: 'redis://redis.example.com' }), of({ sessions: 'redis+unix:/run/redis' }));
  t.equal(of({ sessions: 'redis+sentinel://a,b,c/main' }) - of({ sessions: 'redis://a' }), 6);
  t.equal(of({ sessions: 'redis+cluster://a,b,c' }) - of({ sessions: 'redis://a' }), 14);
});

t.test('what upstreams and providers need is their pools, with both ends of the echo', async (t) => {
  const idp = {
    issuer: 'https://login.example.com',
    client_id: 'p',
    redirect_uri: 'https://a.example.com/in',
  };
  const of = (overrides: object) => outboundNeeds(configOf(overrides));
  t.strictSame(of({ upstreams: { app } }), { atMost: 256, perRequest: 1 });
  t.strictSame(of({ upstreams: { app, b: { ...app, max_connections: 10 } } }), {
    atMost: 266,
    perRequest: 1,
  });
  t.strictSame(of({ upstreams: { app }, identity_providers: { idp } }), { atMost: 288, perRequest: 1 });
  t.strictSame(of({ upstreams: { app: { url: 'builtin:echo' } } }), { atMost: 512, perRequest: 2 });
});

t.test('as many as the configuration allows are accepted where they fit', async (t) => {
  // 25 open, 15 of the stores, 100 of management, 32 files and 64 sockets to spare, and the pool of 256.
  const enough = 10_000 + 25 + 15 + 100 + 32 + 64 + 256;
  const { listener, warnings, budget } = serve({}, enough);
  t.equal(listener.most, 10_000);
  t.equal(budget.isShort, false);
  t.strictSame(warnings, []);

  const less = serve({}, enough - 1);
  t.equal(less.listener.most, 9_999);
  t.equal(less.budget.isShort, true);
  t.strictSame(less.warnings, [
    {
      message: 'too few file descriptors for limits.connections',
      limit: enough - 1,
      needed: enough,
      connections: 9_999,
    },
  ]);
  t.equal(serve({}, Number.POSITIVE_INFINITY).listener.most, 10_000, 'where no limit is known');
});

t.test(
  'each client may have its connection to an upstream, if there are not enough for full pools',
  async (t) => {
    const { listener, budget } = serve({}, 256);
    t.equal(budget.managementConnections, 16);
    t.equal(listener.most, Math.floor((256 - 25 - 15 - 16 - 16 - 16) / 2));
    t.equal(serve({}, 20).listener.most, 1, 'one client is always accepted');
  },
);

t.test('proxies that ask for decisions share with the clients, and some always fit', async (t) => {
  const forward_auth = [{ mode: 'nginx', port: 0 }];
  const { listener, budget } = serve({ forward_auth }, 1_200);
  const most = 1_200 - 25 - 15 - 75 - 64 - 64 - 1 - 32 - 64 - 256;
  t.equal(listener.most, most, 'without 64, as many strangers, and their listener');
  const decisions = { sockets: 63 };
  budget.watchDecisions(decisions);
  listener.sockets = most;
  t.ok(budget.admitsDecision(), 'while fewer than those are open');
  decisions.sockets = 64;
  t.notOk(budget.admitsDecision(), 'then only as long as clients leave room');
  listener.sockets = most - 1;
  t.ok(budget.admitsDecision());
  decisions.sockets = 164;
  budget.fit();
  t.equal(listener.most, most - 100);
});

t.test('upgraded connections take from the clients, and pools that are retired', async (t) => {
  const { config, listener, budget, pool, share } = serve({ limits: { connections: 1_000 } }, 1_200);
  const left = 1_200 - 25 - 15 - 75 - 32 - 64;
  t.equal(listener.most, left - 256);
  pool.load.upgraded = 100;
  t.equal(budget.hasRoomForUpgrade('switched'), true);
  t.equal(listener.most, left - 256 - 100, 'at once');
  pool.load.upgraded = 0;
  budget.fit();
  t.equal(listener.most, left - 256);

  pool.load.busy = 50;
  share.retire();
  budget.openPools(config, [createPool().pooled]);
  budget.fit();
  t.equal(listener.most, left - 256 - 50);
  share.release();
  budget.fit();
  t.equal(listener.most, left - 256);
});

t.test('an upgrade has room while clients, upgraded connections and pools fit', async (t) => {
  const { listener, budget, pool } = serve({}, 1_000);
  const left = 1_000 - 25 - 15 - 62 - 32 - 62;
  listener.sockets = left - 256;
  t.equal(budget.hasRoomForUpgrade('asked'), false);
  listener.sockets -= 1;
  t.equal(budget.hasRoomForUpgrade('asked'), true);
  pool.load.upgraded = 2;
  t.equal(budget.hasRoomForUpgrade('switched'), false, 'two came at once, where there was room for one');
  listener.sockets = Math.floor(left / 2);
  pool.load.upgraded = listener.sockets;
  t.equal(budget.hasRoomForUpgrade('switched'), true, 'half of what there is always fits');
});

t.test('a free connection is closed for one that would be too many, of whichever pool', async (t) => {
  const { config, listener, budget, pool } = serve({}, 256);
  const other = createPool();
  budget.openPools(config, [other.pooled]);
  listener.sockets = 84;
  pool.load.busy = 83;
  budget.makeRoom();
  t.equal(other.closed + pool.closed, 0, 'the last one there is room for');
  other.load.free = 1;
  budget.makeRoom();
  t.equal(other.closed, 1);
  t.doesNotThrow(budget.makeRoom, 'if none is free, there is nothing to close');

  other.load.free = 2;
  pool.load.busy = 81;
  const end = budget.beginCall();
  t.equal(other.closed, 1, 'a call to an identity provider fits');
  budget.makeRoom();
  t.equal(other.closed, 2, 'and takes its place among the connections');
  end();
  budget.makeRoom();
  t.equal(other.closed, 2);
  pool.load.busy = 83;
  budget.beginCall();
  t.equal(other.closed, 3, 'or has room made for it');
});

t.test('addresses are tried side by side with so many sockets, of all upstreams together', async (t) => {
  for (const [limit, count] of [
    [100_000, 64],
    [512, 32],
    [20, 8],
  ] as const) {
    const { spareSockets } = serve({}, limit).budget;
    let taken = 0;
    while (spareSockets.take()) taken += 1;
    t.equal(taken, count);
    spareSockets.giveBack();
    t.equal(spareSockets.take(), true);
    t.equal(spareSockets.take(), false);
  }
});
