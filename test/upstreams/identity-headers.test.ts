import { join } from 'node:path';
import t, { type Test } from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import type { ApiClient, ApiRequest, ApiResponse } from '../support/clients/api-client.ts';
import { spellingsOf } from '../support/corpora/header-spellings.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { kindsOfServer, type ServerName } from './kinds-of-server.ts';
import { radicale } from './radicale.ts';
import { type RealServer, type ServerKind, startRealServer } from './real-server.ts';

t.setTimeout(600_000);

const bob = { username: 'bob', password: 'another horse battery' } as const;

interface Stage {
  readonly api: ApiClient;
  readonly server: RealServer;
  /** A token of ada's, one of bob's, a key of ada's. */
  readonly ada: string;
  readonly bob: string;
  readonly key: string;
}

/** A service that trusts a header, behind the gateway, which puts the username in it; ada and bob are signed in. */
async function startStage(t: Test, kind: ServerKind, header: string): Promise<Stage | undefined> {
  const reason = isLong ? kind.missing() : 'runs with POSTERN_TEST_LONG alone';
  if (reason !== undefined) {
    t.pass(`needs ${kind.name}`, { skip: reason });
    return undefined;
  }
  const server = await startRealServer(t, kind);
  const { api, folder } = await startGatewayProcess(t, {
    config: {
      upstreams: {
        app: { url: `http://127.0.0.1:${server.port}`, identity_headers: { [header]: 'username' } },
      },
      // Names that aren't a spelling of any identity header.
      headers: { odd_names: 'pass' },
      routes: [
        { prefix: '/', upstream: 'app' },
        { prefix: '/public', upstream: 'app', public: true },
      ],
    },
  });
  await api.activate(administrator.username, administrator.password, bootstrapToken);
  await addUser(folder, bob);
  const { accessToken: ada } = await api.signIn(administrator.username, administrator.password);
  const { accessToken } = await api.signIn(bob.username, bob.password);
  const { key } = await api.mintKey(ada, { label: 'ada', scopes: ['store:read'] });
  return { api, server, ada, bob: accessToken, key };
}

/** Requests that claim to come from another user, in every spelling of those names. */
function spoofed(names: readonly string[], user: string): Record<string, string>[] {
  return names.flatMap((name) =>
    [...new Set(Object.values(spellingsOf(name)))].map((spelling) => ({ [spelling]: user })),
  );
}

const userNames = ['Remote-User', 'X-Remote-User', 'X-WEBAUTH-USER', 'X-Forwarded-User', 'Auth-User'];

/**
 * Django keeps its users in a database, and creates one for a trusted header. Over WSGI a subclass of its
 * middleware has to name the header; over ASGI the middleware puts `HTTP_` before the name itself.
 */
function django(name: ServerName, header: string): ServerKind {
  const kind: ServerKind = kindsOfServer[name];
  return {
    ...kind,
    processes: (place) =>
      kind.processes(place).map(({ command, env }) => ({
        command,
        env: {
          ...env,
          UPSTREAM_REMOTE_USER: header,
          UPSTREAM_DATABASE: join(place.folder, 'django.db'),
        },
      })),
  };
}

for (const [name, header] of [
  ['gunicorn, Django', 'HTTP_REMOTE_USER'],
  ['daphne, Django', 'REMOTE_USER'],
] as const)
  t.test(`RemoteUserMiddleware of Django knows the caller by Remote-User: ${name}`, async (t) => {
    const stage = await startStage(t, django(name, header), 'Remote-User');
    if (stage === undefined) return;
    const { api, server } = stage;
    const userOf = async (request: Partial<ApiRequest>) => {
      const before = server.seen().length;
      const { status, text } = await api.send({ path: '/api/store', ...request });
      return status === 200 ? server.seen()[before]?.user : `${status} ${text}`;
    };
    t.equal(await userOf({ bearer: stage.ada }), 'ada', 'a session');
    t.equal(await userOf({ bearer: stage.bob }), 'bob', 'another user’s');
    t.equal(await userOf({ apiKey: stage.key }), 'ada', 'a key is its owner’s');
    t.equal(await userOf({ path: '/public' }), '', 'anonymous on a public route');
    const named = { connection: 'Remote-User, X-Auth-Subject' };
    t.equal(await userOf({ bearer: stage.bob, headers: named }), 'bob', 'Connection removes nothing');
    const believed: string[] = [];
    for (const headers of spoofed(userNames, 'eve')) {
      const nobody = await userOf({ path: '/public', headers });
      const somebody = await userOf({ bearer: stage.bob, headers });
      if (nobody !== '' || somebody !== 'bob')
        believed.push(`${JSON.stringify(headers)}: ${nobody}, ${somebody}`);
    }
    t.strictSame(believed, [], 'the client’s own claims are ignored');
  });

t.test('Radicale serves the calendars of the user in X-Remote-User', async (t) => {
  const stage = await startStage(t, radicale, 'X-Remote-User');
  if (stage === undefined) return;
  const { api } = stage;
  const principal = async (request: Partial<ApiRequest>) => {
    const body = '<propfind xmlns="DAV:"><prop><current-user-principal/></prop></propfind>';
    const { status, text } = await api.send({
      method: 'PROPFIND',
      path: '/',
      body,
      ...request,
      headers: { depth: '0', 'content-type': 'text/xml', ...request.headers },
    });
    return /<current-user-principal><href>([^<]*)/.exec(text)?.[1] ?? `${status}`;
  };
  const status = async (response: Promise<ApiResponse>) => (await response).status;

  t.equal(await principal({ bearer: stage.ada }), '/ada/', 'a session');
  t.equal(await principal({ bearer: stage.bob }), '/bob/', 'another user’s');
  t.equal(await principal({ apiKey: stage.key }), '/ada/', 'a key is its owner’s');
  const calendar = '/ada/work/';
  t.equal(await status(api.send({ method: 'MKCALENDAR', path: calendar, bearer: stage.ada })), 201);
  t.equal(await status(api.send({ method: 'PROPFIND', path: calendar, bearer: stage.ada })), 207);
  t.equal(await status(api.send({ method: 'PROPFIND', path: calendar, bearer: stage.bob })), 403);
  const believed: string[] = [];
  for (const headers of spoofed(userNames, 'ada')) {
    const read = await status(api.send({ method: 'PROPFIND', path: calendar, bearer: stage.bob, headers }));
    const told = await principal({ bearer: stage.bob, headers });
    if (read !== 403 || told !== '/bob/') believed.push(`${JSON.stringify(headers)}: ${read}, ${told}`);
  }
  t.strictSame(believed, [], 'the client’s own claims are ignored');
});
