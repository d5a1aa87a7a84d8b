import t from 'tap';
import { managedOf } from '../../src/administration/managed.ts';
import type { Config } from '../../src/config/sections/schema.ts';
import { ManagedReadings } from '../../src/runtime/managed-readings.ts';
import type { ConfigurationInForce } from '../../src/stores/managed-records.ts';
import { loadGood } from './config-rows.ts';

const configOf = (yaml: string): Config => loadGood(t, yaml).config;
const one = configOf('users: { ada: {} }');
const other = configOf('users: { grace: {} }');

/** The readings of a process that was started with `one`, and what it said. */
function startReadings(t: { teardown(end: () => void): void }) {
  const said: string[] = [];
  const shared = { inForce: undefined as ConfigurationInForce | undefined | Error, isSuperseded: false };
  const readings = new ManagedReadings(one, {
    log: { info: (text) => void said.push(text), warn: (text) => void said.push(text) },
    reloads: {
      superseded(is) {
        shared.isSuperseded = is;
      },
    },
    async inForce() {
      if (shared.inForce instanceof Error) throw shared.inForce;
      return shared.inForce;
    },
  });
  t.teardown(() => readings.close());
  const putInForce = (number: number, config: Config) => {
    shared.inForce = { number, digest: managedOf(config).digest };
  };
  return { readings, said, shared, putInForce };
}

t.test('only a content that differs from the one before takes the next number', (t) => {
  const { readings } = startReadings(t);
  t.equal(readings.readingOf(configOf('users: { ada: {} }\napi_keys: { prefix: x }')), 'again');
  t.equal(readings.readingOf(other), 'next');
  t.equal(readings.readingOf(other), 'next', 'until it was applied');
  readings.read(other, 'applied');
  t.equal(readings.readingOf(other), 'again');
  t.equal(readings.readingOf(one), 'next', 'also one that was there before');
  t.end();
});

t.test('a process that others supersede says so once, and when it is in force again', async (t) => {
  const { readings, said, shared, putInForce } = startReadings(t);
  await readings.check();
  t.notOk(shared.isSuperseded, 'nothing is in force');
  putInForce(1, one);
  await readings.check();
  t.strictSame([shared.isSuperseded, said.length], [false, 0]);
  putInForce(2, other);
  await readings.check();
  await readings.check();
  t.equal(shared.isSuperseded, true);
  t.match(said, [/a different configuration was applied later/]);
  t.equal(said.length, 1);
  shared.inForce = new Error('unavailable');
  await readings.check();
  t.equal(shared.isSuperseded, true, 'while the records are unavailable nothing is known');
  putInForce(3, one);
  await readings.check();
  t.equal(shared.isSuperseded, false);
  t.match(said[1], /in force again/);
});

t.test('a reload that applies nothing says so each time', (t) => {
  const { readings, said, shared } = startReadings(t);
  readings.read(one, 'superseded');
  readings.read(one, 'superseded');
  t.equal(said.length, 2);
  t.equal(shared.isSuperseded, true);
  readings.read(other, 'applied');
  t.equal(shared.isSuperseded, false);
  t.end();
});

t.test('the configuration in force is not held against a reading that came meanwhile', async (t) => {
  const { readings, said, putInForce } = startReadings(t);
  putInForce(2, other);
  const checked = readings.check();
  readings.read(other, 'current');
  await checked;
  t.strictSame(said, []);
});
