import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { createApiClient } from '../support/clients/api-client.ts';
import { eventually } from '../support/eventually.ts';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestScope,
} from '../support/gateway/gateway.ts';
import { parsePrometheusText } from '../support/gateway/prometheus-text.ts';
import { createSecretWatch } from '../support/gateway/secret-watch.ts';

async function startManaged(t: TestScope, config: object = {}) {
  const gateway = await startTestGateway(t, { config });
  const manage = (path: string, method = 'GET') =>
    fetch(`http://127.0.0.1:${gateway.managementPort}${path}`, { method, headers: { connection: 'close' } });
  /** Renames a table of the running gateway away, and back. */
  const takeAway = (file: string, table: string) => {
    const db = new Database(join(gateway.folder, file));
    db.pragma('legacy_alter_table = ON');
    db.exec(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    return () => db.exec(`ALTER TABLE ${table}_away RENAME TO ${table}`).close();
  };
  return { ...gateway, manage, takeAway };
}

/** Stores that a `stale_if_error` of nothing fits. */
const storesThatAskAlways = {
  records: 'sqlite:records.db',
  sessions: 'sqlite:sessions.db',
  sessions_liveness_age: '0s',
};

t.test('/healthz responds without a credential', async (t) => {
  const { manage } = await startManaged(t);
  const response = await manage('/healthz');
  t.equal(response.status, 200);
  t.same(await response.json(), { status: 'ok' });
  t.equal((await manage('/healthz', 'HEAD')).status, 200);
});

t.test('it is ready while the records store responds', async (t) => {
  const { takeAway, manage } = await startManaged(t, {
    sessions: { stale_if_error: '0s' },
    stores: storesThatAskAlways,
  });
  const ready = await manage('/readyz');
  t.equal(ready.status, 200);
  t.same(await ready.json(), {
    status: 'ready',
    dependencies: { records: { ok: true }, sessions: { ok: true } },
  });
  const giveBack = takeAway('records.db', 'bootstrap');
  const notReady = await manage('/readyz');
  t.equal(notReady.status, 503);
  t.same(await notReady.json(), {
    status: 'not_ready',
    dependencies: { records: { ok: false }, sessions: { ok: true } },
  });
  t.equal((await manage('/healthz')).status, 200, 'it lives all the same');
  giveBack();
  t.equal((await manage('/readyz')).status, 200);
});

t.test('it stays ready without the records store for stale_if_error, and reports it', async (t) => {
  const { takeAway, manage } = await startManaged(t);
  const giveBack = takeAway('records.db', 'bootstrap');
  for (let probe = 0; probe < 2; probe++) {
    const response = await manage('/readyz');
    t.equal(response.status, 200);
    t.same(await response.json(), {
      status: 'ready',
      dependencies: { records: { ok: false }, sessions: { ok: true } },
    });
  }
  giveBack();
});

t.test('a reload changes for how long', async (t) => {
  const { takeAway, manage, reload } = await startManaged(t, { stores: storesThatAskAlways });
  const giveBack = takeAway('records.db', 'bootstrap');
  t.equal((await manage('/readyz')).status, 200);
  await reload({ stores: storesThatAskAlways, sessions: { stale_if_error: '0s' } });
  t.equal((await manage('/readyz')).status, 503);
  await reload({ stores: storesThatAskAlways, sessions: { stale_if_error: '1h' } });
  t.equal((await manage('/readyz')).status, 200);
  giveBack();
});

t.test('it stays ready without the session store, because API keys still pass', async (t) => {
  const { api, manage, takeAway } = await startManaged(t);
  await api.activate(administrator.username, administrator.password, bootstrapToken);
  const { accessToken } = await api.signIn(administrator.username, administrator.password);
  const { key } = await api.mintKey(accessToken, { label: 'ci', scopes: ['store:read'] });
  const giveBack = takeAway('sessions.db', 'sessions');
  const response = await manage('/readyz');
  t.equal(response.status, 200);
  t.same(await response.json(), {
    status: 'ready',
    dependencies: { records: { ok: true }, sessions: { ok: false } },
  });
  t.equal((await api.send({ path: '/api/store/x', apiKey: key })).status, 200);
  giveBack();
});

t.test('metrics are in the text format of Prometheus, all prefixed postern', async (t) => {
  const { api, manage } = await startManaged(t);
  await api.send({ path: '/api/store/secret-asset?token=query-secret', bearer: 'not-a-token-at-all' });
  const response = await manage('/metrics');
  t.equal(response.status, 200);
  t.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  const names = parsePrometheusText(text);
  t.ok(names.size > 5);
  t.same(
    [...names.keys()].filter((name) => !name.startsWith('postern_')),
    [],
  );
  t.match(text, /route="\/api\/store"/, 'the configured path');
  t.notMatch(text, /secret/, 'never a request’s path or query');
});

t.test('another path is 404 and another method 405', async (t) => {
  const { manage, api } = await startManaged(t);
  for (const path of ['/', '/healthz/', '/api/login/access-token', '/.well-known/jwks.json', '/metrics/x'])
    t.equal((await manage(path)).status, 404, path);
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    const response = await manage(path, 'POST');
    t.equal(response.status, 405, path);
    t.equal(response.headers.get('allow'), 'GET, HEAD');
    t.equal((await api.send({ path })).status, 404, 'and nothing of it is public');
  }
});

t.test('every response carries a request id: the one that was sent, if it is usable', async (t) => {
  const { managementPort } = await startManaged(t);
  const manage = createApiClient(managementPort, createSecretWatch());
  for (const path of ['/healthz', '/readyz', '/metrics', '/.well-known/postern-assertion-jwks.json', '/x']) {
    const { headers } = await manage.send({ path, headers: { 'x-request-id': 'probe-1' } });
    t.equal(headers['x-request-id'], 'probe-1', path);
    const isPublic = path.endsWith('jwks.json');
    t.equal(headers['cache-control'], isPublic ? 'public, max-age=300' : 'no-store', path);
  }
  for (const sent of [['a', 'b'], 'a b', 'x'.repeat(129), '']) {
    const { headers } = await manage.send({ path: '/healthz', headers: { 'x-request-id': sent } });
    t.match(headers['x-request-id'], /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
  }
  for (const [method, path] of [
    ['GET', '/x'],
    ['POST', '/healthz'],
  ] as const) {
    const { headers, json } = await manage.send({ method, path });
    t.equal(json.request_id, headers['x-request-id'], 'an error body, too');
  }
});

t.test('connections that ask for nothing leave room for a probe, and are closed', async (t) => {
  const { managementPort, manage } = await startManaged(t);
  let open = 0;
  const begin = (text: string) => {
    const socket = connect({ port: managementPort, host: '127.0.0.1' }, () => socket.write(text));
    open++;
    socket.on('error', () => {}).on('close', () => open--);
    t.teardown(() => socket.destroy());
    return socket.resume();
  };
  const scraper = begin('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(scraper, 'data');
  for (let i = 0; i < 90; i++) await once(begin(''), 'connect');
  scraper.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(scraper, 'data');
  for (let i = 0; i < 90; i++) await once(begin('GET /healthz HTTP/1.1\r\nHost: a\r\n'), 'connect');
  t.equal((await manage('/readyz')).status, 200);
  await eventually('no more than 100 are held', () => open <= 100);
  t.notOk(scraper.closed, 'the least recently active are closed first');
  await eventually('all closed', () => open === 0);
});
