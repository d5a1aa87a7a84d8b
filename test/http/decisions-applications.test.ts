import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { type DecisionMode, decisionModes, exactModes } from '../../src/config/sections/forward-auth.ts';
import { pathsKeys } from '../../src/config/values/passed-by.ts';
import { connectCheckClient } from '../support/clients/check-client.ts';
import { describingLines, sendQuestion } from '../support/clients/decisions.ts';
import { readCorpus } from '../support/corpora/corpus.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

/** What a proxy is told, whatever it speaks. */
interface Decision {
  readonly status: number;
  readonly code: string | undefined;
  /** A header to set upstream; undefined if there is none. */
  header(name: string): string | undefined;
  readonly removed: readonly string[];
}

/** Asks as a proxy of that mode does. */
type Ask = (target: string, lines?: readonly string[], method?: string) => Promise<Decision>;

/** Starts a gateway with listeners of those modes, and one client for each. */
async function startAll(t: Test, modes: readonly DecisionMode[], config: object, settings: object = {}) {
  const gateway = await startForwarding(t, {
    ...config,
    forward_auth: modes.map((mode) => ({ mode, port: 0, ...settings })),
  });
  const asking = modes.map((mode, index): readonly [DecisionMode, Ask] => {
    const port = gateway.decisionPorts[index]!;
    return [mode, mode === 'envoy_grpc' ? askOverGrpc(t, port) : askOverHttp(mode, port)];
  });
  return { ...gateway, asking };
}

function askOverHttp(mode: Exclude<DecisionMode, 'envoy_grpc'>, port: number): Ask {
  return async (target, lines = [], method = 'GET') => {
    const [requestLine, described] = describingLines(mode, method, target);
    const answer = await sendQuestion(port, requestLine, ['Host: app.example', ...lines, ...described]);
    return {
      status: answer.status,
      code: answer.json?.code,
      header: (name) => answer.values(name)[0],
      removed: answer.values('x-envoy-auth-headers-to-remove').join().split(','),
    };
  };
}

function askOverGrpc(t: Test, port: number): Ask {
  const { check } = connectCheckClient(t, port);
  return async (target, lines = [], method = 'GET') => {
    const fields = lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
    });
    const headerMap: [string, string][] = [[':method', method], [':path', target], ...fields];
    const { status, headers, removed, body } = await check({ method, path: target, headerMap });
    return {
      status,
      code: body === '' ? undefined : JSON.parse(body).code,
      header: (name) => headers[name],
      removed,
    };
  };
}

/** The status by which a proxy of that mode is told of a refusal. */
const told = (mode: DecisionMode, status: number) =>
  mode.endsWith('nginx') && status !== 401 && status >= 400 && status < 500 ? 403 : status;

const base64 = (text: string) => Buffer.from(text).toString('base64');

t.test('keys by Basic count behind every proxy, but not for pages of others', async (t) => {
  const routes = [
    { prefix: '/own', upstream: 'none', authorization: 'pass' },
    { prefix: '/own/free', upstream: 'none', authorization: 'pass', public: true },
    { prefix: '/api', upstream: 'none' },
  ];
  const config = { api_keys: { basic: true }, cors: { origins: ['https://front.example'] }, routes };
  const { asking, key, keyId } = await startAll(t, decisionModes, config);
  const basic = `Authorization: Basic ${base64(`ada:${key}`)}`;
  const script = ['Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty'];
  for (const [mode, ask] of asking) {
    for (const target of ['/api/x', '/own', '/own/free']) {
      const allowed = await ask(target, [basic]);
      t.equal(allowed.status, 200, `${mode} ${target}`);
      t.equal(allowed.header('x-auth-key-id'), keyId, `${mode} ${target}`);
      t.equal(allowed.header('authorization') ?? '', '', `${mode} ${target}: the key goes nowhere`);
      if (mode.startsWith('envoy')) t.ok(allowed.removed.includes('authorization'), `${mode} ${target}`);
      for (const foreign of [['Sec-Fetch-Site: cross-site', ...script], ['Origin: https://front.example']]) {
        const refused = await ask(target, [basic, ...foreign]);
        t.match(refused, { status: 403, code: 'cross_site' }, `${mode} ${target} ${foreign[0]}`);
      }
    }
    const own = await ask('/own/free', ['Authorization: Basic YTpi']);
    t.equal(own.status, 200, mode);
    if (mode.startsWith('envoy')) t.notOk(own.removed.includes('authorization'), mode);
    else t.equal(own.header('authorization'), 'Basic YTpi', mode);
    const twice = await ask('/own', [basic, `X-API-Key: ${key}`]);
    t.match(twice, { status: told(mode, 400), code: 'ambiguous_credentials' }, mode);
    t.equal((await ask('/api/x', ['Authorization: Basic YTpi'])).status, 401, mode);
  }
});

t.test('a route lets its spellings of paths through behind every proxy that keeps them', async (t) => {
  const rows = readCorpus<{ name: string; path: string; expect: 'forwarded' | 400 | 404 }>('passed-paths');
  const paths = Object.fromEntries(pathsKeys.map((name) => [name, 'pass']));
  const routes = [
    { prefix: '/c', upstream: 'none', public: true, paths },
    { prefix: '/c/strict', upstream: 'none', scopes: ['store:write'] },
    { exact: '/c/only', upstream: 'none', scopes: ['store:write'] },
    { prefix: '/plain', upstream: 'none', public: true },
  ];
  const { asking } = await startAll(t, [...exactModes], { routes });
  for (const [mode, ask] of asking) {
    const wrong: string[] = [];
    for (const { name, path, expect } of rows) {
      const { status } = await ask(`/c${path}`);
      const wanted = expect === 'forwarded' ? 200 : told(mode, expect);
      if (status !== wanted) wrong.push(`${name} (${path}): ${status}`);
    }
    t.strictSame(wrong, [], mode);
    t.equal((await ask('/plain/C%23.txt')).status, told(mode, 400), mode);
  }
});

const hashOf = (target: string) => createHash('sha256').update(target).digest('base64url');

t.test(
  'what only forwarding changes changes no decision, and no preflight is judged that passes',
  async (t) => {
    const config = {
      upstreams: { app: { url: 'http://127.0.0.1:9/app', headers: { 'X-Shared-Secret': 'geheim' } } },
      routes: [
        { prefix: '/files', upstream: 'app', strip_prefix: '/files' },
        { prefix: '/graph', upstream: 'none', cors: 'upstream' },
      ],
    };
    const { asking, key, secrets } = await startAll(t, decisionModes, config, {
      assertion: { audience: 'a' },
    });
    secrets.add('geheim');
    const preflight = ['Origin: https://a.example', 'Access-Control-Request-Method: PUT'];
    for (const [mode, ask] of asking) {
      const allowed = await ask('/files/a?b=c', [`X-API-Key: ${key}`]);
      t.equal(allowed.status, 200, mode);
      const [, claims = ''] = allowed.header('x-auth-assertion')!.split('.');
      const { htt } = JSON.parse(Buffer.from(claims, 'base64url').toString());
      t.equal(htt, hashOf('/files/a?b=c'), `${mode}: the assertion is bound to what was described`);
      for (const name of ['x-forwarded-prefix', 'x-shared-secret'])
        t.equal(allowed.header(name) ?? '', '', `${mode} ${name}`);
      const passed = await ask('/graph', [...preflight, `X-API-Key: ${key}`], 'OPTIONS');
      t.equal(passed.status, 200, mode);
      t.equal(passed.header('x-auth-subject') ?? '', '', `${mode}: a preflight is nobody’s`);
      t.equal((await ask('/files/a', preflight, 'OPTIONS')).status, 401, mode);
      t.equal((await ask('/graph')).status, 401, mode);
    }
  },
);
