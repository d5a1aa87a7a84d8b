import t from 'tap';
import { addUser, changeUser } from '../support/administration/accounts.ts';
import { addScopeSet } from '../support/administration/scope-sets.ts';
import { connectCheckClient } from '../support/clients/check-client.ts';
import { describingLines, sendQuestion } from '../support/clients/decisions.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

const password = 'correct horse battery staple';
const names = {
  'X-Groups': 'scope_sets',
  'X-Groups-Utf8': { from: 'scope_sets', encoding: 'utf8' },
  'X-Service-Scopes': 'service_scopes',
  'X-Name': { from: 'display_name', encoding: 'utf8' },
  'X-Name-Percent': { from: 'display_name', encoding: 'percent' },
  'X-Role': {
    from: 'scope_sets',
    first: [{ administrator: 'Admin' }, { 'Zürich, 100%': 'Städter' }, { editors: 'Editor' }],
    else: 'Viewer',
  },
  'X-May-Write': { from: 'service_scopes', first: [{ 'store:write': 'yes' }] },
};
const lower = Object.keys(names).map((name) => name.toLowerCase());

/** A gateway with an upstream that is told all of these, and a user who holds some sets. */
async function scene(t: Parameters<typeof startForwarding>[0], engine = 'built_in') {
  const gateway = await startForwarding(t, {
    listen: { engine },
    upstreams: { app: { url: 'builtin:echo', identity_headers: names } },
    routes: [
      { prefix: '/api/open', upstream: 'app', public: true },
      { prefix: '/api', upstream: 'app' },
    ],
    forward_auth: (['nginx', 'envoy', 'envoy_grpc'] as const).map((mode) => ({ mode, port: 0 })),
  });
  await addScopeSet(gateway.folder, { id: 's1', name: 'editors', scopes: ['store:read', 'store:write'] });
  await addScopeSet(gateway.folder, { id: 's2', name: 'Zürich, 100%', scopes: ['store:read', 'users:read'] });
  await addScopeSet(gateway.folder, { id: 's3', name: 'all of us', scopes: [] });
  await addScopeSet(gateway.folder, { id: 's4', name: 'not held', scopes: ['store:read'] });
  const user = await addUser(gateway.folder, { username: 'zoe', password, scopeSets: ['s1', 's2', 's3'] });
  await changeUser(gateway.folder, user.id, { displayName: 'Zoë 100%, Müller' });
  /** What the upstream is told of a caller: the values by name, as bytes. */
  const told = async (caller: { bearer?: string; apiKey?: string }, path = '/api/x') => {
    const { json } = await gateway.api.send({ path, ...caller });
    const values = new Map<string, string>();
    for (const [name, value] of json.headers) if (lower.includes(name.toLowerCase())) values.set(name, value);
    return Object.fromEntries(values);
  };
  return { gateway, user, told };
}

const utf8 = (text: string) => Buffer.from(text).toString('latin1');
const all = {
  'X-Groups': 'Z%C3%BCrich%2C%20100%25,all%20of%20us,editors',
  'X-Groups-Utf8': utf8('Zürich%2C 100%25,all of us,editors'),
  'X-Service-Scopes': 'store:read,store:write',
  'X-Name': utf8('Zoë 100%, Müller'),
  'X-Name-Percent': 'Zo%C3%AB%20100%25,%20M%C3%BCller',
  'X-Role': 'St%C3%A4dter',
  'X-May-Write': 'yes',
};

for (const engine of ['built_in', 'node'])
  t.test(`a session and its tokens are told as they are now: engine ${engine}`, async (t) => {
    const { gateway, user, told } = await scene(t, engine);
    const whole = await gateway.api.signIn('zoe', password);
    t.strictSame(await told({ bearer: whole.accessToken }), all);

    const { accessToken } = await gateway.api.signIn('zoe', password, { scope: 'store:read store:write' });
    t.strictSame(
      await told({ bearer: accessToken }),
      {
        ...all,
        'X-Groups': 'editors',
        'X-Groups-Utf8': 'editors',
        'X-Role': 'Editor',
      },
      'of a narrower token only sets whose every scope it holds, and none that has no scope',
    );
    const narrow = await gateway.api.signIn('zoe', password, { scope: 'users:read' });
    t.strictSame(
      await told({ bearer: narrow.accessToken }),
      { 'X-Name': all['X-Name'], 'X-Name-Percent': all['X-Name-Percent'], 'X-Role': 'Viewer' },
      'what is empty is left out',
    );

    await changeUser(gateway.folder, user.id, { scopeSets: ['s3'], displayName: 'line\u0007break' });
    const changed = await told({ bearer: whole.accessToken });
    t.strictSame(changed, {
      'X-Groups': 'all%20of%20us',
      'X-Groups-Utf8': 'all of us',
      'X-Name-Percent': 'line%07break',
      'X-Role': 'Viewer',
    });
    t.strictSame(await told({}, '/api/open/x'), {}, 'of nobody nothing, not even else');
  });

t.test('an administrator is told the sets held, not all that this implies; a key its own', async (t) => {
  const { gateway, told } = await scene(t);
  const admin = await told({ bearer: gateway.bearer });
  t.match(admin, { 'X-Groups': 'administrator', 'X-Role': 'Admin', 'X-May-Write': 'yes' });
  t.match(admin, { 'X-Service-Scopes': 'store:read,store:write' }, 'without built-in ones');
  const { key } = await gateway.api.mintKey(gateway.bearer, {
    label: 'k',
    scopes: ['store:write'],
    scope_sets: ['s4', 's3'],
  });
  t.strictSame(await told({ apiKey: key }), {
    'X-Groups': 'all%20of%20us,not%20held',
    'X-Groups-Utf8': 'all of us,not held',
    'X-Service-Scopes': 'store:read,store:write',
    'X-Role': 'Viewer',
    'X-May-Write': 'yes',
  });
  t.strictSame(await told({ apiKey: gateway.key }), {
    'X-Service-Scopes': 'store:read,store:write',
    'X-Role': 'Viewer',
    'X-May-Write': 'yes',
  });
});

t.test('decisions answer the same, and what is left out empty', async (t) => {
  const { gateway } = await scene(t);
  const { accessToken } = await gateway.api.signIn('zoe', password);
  const [nginx, envoy, grpc] = gateway.decisionPorts;
  const [line, described] = describingLines('nginx', 'GET', '/api/x');
  const asked = (token: string) =>
    sendQuestion(nginx!, line, ['Host: a', `Authorization: Bearer ${token}`, ...described]);
  const answer = await asked(accessToken);
  for (const [name, value] of Object.entries(all))
    t.strictSame(answer.values(name.toLowerCase()), [value], name);
  const narrow = await gateway.api.signIn('zoe', password, { scope: 'users:read' });
  const less = await asked(narrow.accessToken);
  for (const name of ['x-groups', 'x-groups-utf8', 'x-service-scopes', 'x-may-write'])
    t.strictSame(less.values(name), [''], name);

  const [envoyLine] = describingLines('envoy', 'GET', '/api/x');
  const set = await sendQuestion(envoy!, envoyLine, ['Host: a', `Authorization: Bearer ${accessToken}`]);
  t.strictSame(set.values('x-name'), [all['X-Name']]);
  const { check } = connectCheckClient(t, grpc!);
  const { headers } = await check({
    path: '/api/x',
    headers: { authorization: `Bearer ${accessToken}` },
  });
  t.equal(headers['x-name'], 'Zoë 100%, Müller', 'text, as gRPC has it');
});
