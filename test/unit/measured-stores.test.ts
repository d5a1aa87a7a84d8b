import t from 'tap';
import { Refusal } from '../../src/errors.ts';
import { MetricsRegistry } from '../../src/metrics/registry.ts';
import { measureStores } from '../../src/runtime/store-metrics.ts';
import type { Stores } from '../../src/runtime/stores.ts';
import { removeUser } from '../support/administration/record-changes.ts';
import { parsePrometheusText } from '../support/gateway/prometheus-text.ts';

/** Stores whose operations give what `response` gives; measured. */
function startMeasured(response: () => unknown) {
  const store = {
    findLive: response,
    findUser: response,
    revoke: response,
    removeUserRecord: response,
    consume: response,
  };
  const stores = { records: store, sessions: store, attempts: store, singleUse: store };
  const registry = new MetricsRegistry();
  const measured = measureStores({ ...stores, logs: [] } as unknown as Stores, registry);
  const value = async (name: string, store: string, operation: string) =>
    parsePrometheusText(await registry.text())
      .get(name)!
      .samples.filter(({ labels }) => labels.store === store && labels.operation === operation)
      .find((sample) => !sample.name.endsWith('_bucket') && !sample.name.endsWith('_sum'))!.value;
  const counted = async (store: string, operation: string) => ({
    waits: await value('postern_store_duration_seconds', store, operation),
    errors: await value('postern_store_errors_total', store, operation),
  });
  return { measured, counted };
}

t.test('a synchronous result is returned as it is, and not timed', async (t) => {
  const response = {};
  const { measured, counted } = startMeasured(() => response);
  t.equal(measured.sessions.findLive('a'), response);
  t.equal(measured.records.findUser('a'), response);
  t.strictSame(await counted('sessions', 'read'), { waits: 0, errors: 0 });
  t.strictSame(await counted('records', 'read'), { waits: 0, errors: 0 });
});

t.test('a promise is returned as it is, and timed under its store and operation', async (t) => {
  const response = Promise.resolve(true);
  const { measured, counted } = startMeasured(() => response);
  t.equal(measured.sessions.findLive('a'), response);
  t.equal(measured.singleUse.consume('a', 1), response);
  await response;
  t.strictSame(await counted('sessions', 'read'), { waits: 1, errors: 0 });
  t.strictSame(await counted('sessions', 'write'), { waits: 1, errors: 0 });
  t.strictSame(await counted('attempts', 'write'), { waits: 0, errors: 0 });
});

t.test('an unavailable store is counted as an error, whether it throws or rejects', async (t) => {
  const away = new Refusal('store_unavailable');
  const throwing = startMeasured(() => {
    throw away;
  });
  t.throws(() => throwing.measured.records.findUser('a'), away);
  t.strictSame(await throwing.counted('records', 'read'), { waits: 0, errors: 1 });
  const rejecting = startMeasured(() => Promise.reject(away));
  await t.rejects(rejecting.measured.sessions.revoke('a'), away);
  t.strictSame(await rejecting.counted('sessions', 'write'), { waits: 1, errors: 1 });
});

t.test('a refusal that is a result is no error', async (t) => {
  const { measured, counted } = startMeasured(() => Promise.reject(new Refusal('last_administrator')));
  await t.rejects(removeUser(measured.records, 'a'), { code: 'last_administrator' });
  t.strictSame(await counted('records', 'write'), { waits: 1, errors: 0 });
});
