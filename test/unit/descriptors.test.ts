import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/sections/schema.ts';
import { Descriptors } from '../../src/runtime/descriptors.ts';
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

/** A pool whose load is set by the test; `closed` counts what it was made to close. */
function createPool() {
  const pool = {
    busy: 0,
    free: 0,
    upgraded: 0,
    closed: 0,
    load: () => ({ ...pool, waiting: 0 }),
    closeFree() {
      if (pool.free === 0) return false;
      pool.free -= 1;
      pool.closed += 1;
      return true;
    },
  };
  return pool;
}

/** Shares of a process with that limit, 25 of it open, and what a listener was told and the log says. */
function start(overrides: object, limit: number) {
  const config = configOf({ upstreams: { app }, ...overrides });
  const descriptors = new Descriptors(config, limit, 25);
  const warnings: object[] = [];
  let most = Number.NaN;
  const listener = {
    limitConnections(count: number) {
      most = count;
    },
  };
  const log = { warn: (message: string, fields?: object) => warnings.push({ message, ...fields }) };
  descriptors.applyTo(listener, config, log);
  return { config, descriptors, most, warnings };
}

/** Open, stores and own files, management, spare files and spare sockets. */
const kept = 25 + 32 + 100 + 32 + 64;

t.test('clients get as many connections as the configuration allows where they fit', async (t) => {
  const enough = kept + 2 * 10_000;
  const { most, warnings, descriptors } = start({}, enough);
  t.equal(most, 10_000);
  t.equal(descriptors.isShort, false);
  t.strictSame(warnings, []);

  const less = start({}, enough - 1);
  t.equal(less.most, 9_999);
  t.equal(less.descriptors.connections, 9_999);
  t.equal(less.descriptors.isShort, true);
  t.strictSame(less.warnings, [], 'half is enough to start without a warning');
  t.strictSame(start({}, kept + 10_000).warnings, []);
  t.strictSame(start({}, kept + 9_999).warnings, [
    {
      message: 'file descriptor limit too low for limits.connections: fewer connections are accepted',
      descriptor_limit: kept + 9_999,
      descriptors_needed: enough,
      connections_allowed: 4_999,
    },
  ]);
  t.equal(start({}, Number.POSITIVE_INFINITY).most, 10_000, 'where no limit is known');
});

t.test('a low limit leaves clients half of what is not kept back', async (t) => {
  t.equal(start({}, 256).most, Math.floor((256 - 25 - 32 - 16 - 16 - 16) / 2));
  t.equal(start({}, 20).most, 1, 'one client is always accepted');
});

t.test('connections to stores and identity providers are kept back', async (t) => {
  const idp = {
    issuer: 'https://login.example.com',
    client_id: 'p',
    redirect_uri: 'https://a.example.com/in',
  };
  const shareOf = (overrides: object) => start(overrides, 3_000).descriptors.share;
  const share = shareOf({});
  const records = 'postgres://postern@db.example.com/app';
  t.equal(shareOf({ stores: { records } }), share - 4, 'eight connections');
  t.equal(shareOf({ stores: { records, records_connections: 100 } }), share - 50);
  t.equal(shareOf({ identity_providers: { idp } }), share - 16, 'thirty-two calls');
});

t.test('an echo takes both ends of each connection', async (t) => {
  const { descriptors } = start({ upstreams: { app: { url: 'builtin:echo' } } }, 3_000);
  t.equal(descriptors.share, Math.floor((3_000 - kept) / 3));
});

t.test('proxies that ask for decisions have a share of their own', async (t) => {
  const { descriptors } = start({ forward_auth: [{ mode: 'nginx', port: 0 }] }, 3_000);
  t.equal(descriptors.strangers, 64);
  t.equal(
    descriptors.share,
    Math.floor((3_000 - kept - 64 - 1) / 3),
    'strangers and the listener are kept back',
  );
});

t.test('a reload changes how many clients are accepted, not the share', async (t) => {
  const { config, descriptors, most } = start({}, 256);
  const told: number[] = [];
  const listener = { limitConnections: (count: number) => void told.push(count) };
  const warnings: unknown[] = [];
  const log = { warn: (message: string) => void warnings.push(message) };
  for (const connections of [10, 1_000])
    descriptors.applyTo(listener, { ...config, limits: { ...config.limits, connections } }, log);
  t.strictSame(told, [10, most]);
  t.equal(warnings.length, 1);
});

t.test('a free connection is closed for one that would be too many, of whichever pool', async (t) => {
  const { descriptors } = start({}, 256);
  const [pool, earlier] = [createPool(), createPool()];
  descriptors.addPools([pool]);
  const remove = descriptors.addPools([earlier]);
  pool.busy = descriptors.share - 2;
  earlier.free = 1;
  descriptors.makeRoom();
  t.equal(earlier.closed, 0, 'the last one there is room for');
  pool.upgraded = 1;
  descriptors.makeRoom();
  t.equal(earlier.closed, 1, 'upgraded connections count');
  pool.busy += 1;
  t.doesNotThrow(descriptors.makeRoom, 'if none is free, there is nothing to close');
  remove();
  earlier.free = 1;
  descriptors.makeRoom();
  t.equal(earlier.closed, 1, 'pools that are closed are not counted any more');
});

t.test('addresses are tried side by side with so many sockets, of all upstreams together', async (t) => {
  for (const [limit, count] of [
    [100_000, 64],
    [512, 32],
    [20, 8],
  ] as const) {
    const { spareSockets } = start({}, limit).descriptors;
    let taken = 0;
    while (spareSockets.take()) taken += 1;
    t.equal(taken, count);
    spareSockets.giveBack();
    t.equal(spareSockets.take(), true);
    t.equal(spareSockets.take(), false);
  }
});
