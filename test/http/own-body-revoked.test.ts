import t, { type Test } from 'tap';
import { addUser, changeUser } from '../support/administration/accounts.ts';
import {
  type KeyAdministration,
  keysPath,
  startKeyAdministration,
} from '../support/administration/key-administration.ts';
import { connectRaw, type RawResponse } from '../support/clients/raw-client.ts';

const bea = { username: 'bea', password: 'another horse battery' };
const scopes = ['apikeys:read', 'apikeys:write', 'store:read'];

/** A gateway where Bea is signed in, who may administer keys. */
interface Setting extends KeyAdministration {
  readonly beaId: string;
  readonly beaBearer: string;
  readonly beaCookie: string;
}

async function start(t: Test, config: object = {}): Promise<Setting> {
  const gateway = await startKeyAdministration(t, { config });
  const { id } = await addUser(gateway.folder, { ...bea, scopes });
  const { accessToken, cookie } = await gateway.api.signIn(bea.username, bea.password);
  return { ...gateway, beaId: id, beaBearer: accessToken, beaCookie: cookie };
}

/** Sends a head and the first byte of the body; the rest when asked to. */
async function begin(port: number, requestLine: string, credential: string, body: string) {
  const client = await connectRaw(port);
  const lines = [
    requestLine,
    'Host: gateway.example',
    credential,
    'Expect: 100-continue',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  client.write(`${lines.join('\r\n')}\r\n\r\n`);
  // The gateway has checked the head and is reading the body.
  await client.response();
  client.write(body.slice(0, 1));
  return {
    response: () => client.response(),
    finish(): Promise<RawResponse> {
      client.write(body.slice(1));
      return client.response();
    },
  };
}

const mint = JSON.stringify({ label: 'late', scopes: ['store:read'] });

/** Ways to end what Bea's session may do, and the refusal that follows. */
const sessionEnds: Record<string, readonly [(setting: Setting) => unknown, object]> = {
  'its sign-out': [
    ({ api, beaBearer }) => api.send({ path: '/api/logout', bearer: beaBearer }),
    { status: 401, json: { code: 'invalid_token' } },
  ],
  'its end': [
    ({ advance }) => advance(90 * 86_400_000 + 1),
    { status: 401, json: { code: 'invalid_token' } },
  ],
  'the user being disabled': [
    ({ folder, beaId }) => changeUser(folder, beaId, { disabled: true }),
    { status: 401, json: { code: 'invalid_token' } },
  ],
  'the user losing the scope': [
    ({ folder, beaId }) => changeUser(folder, beaId, { scopes: ['store:read'] }),
    { status: 403, json: { code: 'insufficient_scope' } },
  ],
};

for (const [name, [end, refusal]] of Object.entries(sessionEnds)) {
  t.test(`a request that began before ${name} is not carried out after it`, async (t) => {
    const setting = await start(t);
    const { port, beaBearer, call, mint: mintKey } = setting;
    const victim = await mintKey();
    const credential = `Authorization: Bearer ${beaBearer}`;
    const requests = [
      await begin(port, `POST ${keysPath} HTTP/1.1`, credential, mint),
      await begin(port, `GET ${keysPath} HTTP/1.1`, credential, 'xx'),
      await begin(port, `DELETE ${keysPath}${victim.id} HTTP/1.1`, credential, 'xx'),
    ];
    await end(setting);
    for (const request of requests) t.match(await request.finish(), refusal);
    if (name !== 'its end') {
      const { json } = await call('GET');
      t.same(
        json.items.map((key: { id: string }) => key.id),
        [victim.id],
        'no key was created or deleted',
      );
    }
  });

  t.test(`a request that sends nothing more ends by itself with ${name}`, async (t) => {
    const setting = await start(t);
    const { port, beaBearer } = setting;
    const request = await begin(
      port,
      `POST ${keysPath} HTTP/1.1`,
      `Authorization: Bearer ${beaBearer}`,
      mint,
    );
    await end(setting);
    t.match(await request.response(), refusal);
  });
}

t.test('a request with a key is not carried out once the key is deleted', async (t) => {
  const { port, mint: mintKey, call } = await start(t);
  const key = await mintKey({ scopes: ['apikeys:read', 'apikeys:write', 'store:read'] });
  const credential = `X-API-Key: ${key.key}`;
  const post = await begin(port, `POST ${keysPath} HTTP/1.1`, credential, mint);
  const get = await begin(port, `GET ${keysPath} HTTP/1.1`, credential, 'xx');
  await call('DELETE', key.id);
  for (const request of [post, get])
    t.match(await request.response(), { status: 401, json: { code: 'invalid_api_key' } });
  t.equal((await call('GET')).json.total, 0);
});

t.test('a request with a token of fewer scopes is carried out while they are still held', async (t) => {
  const { port, api, folder, beaId } = await start(t);
  const { accessToken } = await api.signIn(bea.username, bea.password, { scope: 'apikeys:write store:read' });
  const request = await begin(
    port,
    `POST ${keysPath} HTTP/1.1`,
    `Authorization: Bearer ${accessToken}`,
    mint,
  );
  await changeUser(folder, beaId, { scopes: ['apikeys:write', 'store:read'] });
  t.equal((await request.finish()).status, 201);
});

t.test('a key with scopes that were lost while the body arrived is refused', async (t) => {
  const { port, folder, beaId, beaBearer, call } = await start(t);
  const request = await begin(port, `POST ${keysPath} HTTP/1.1`, `Authorization: Bearer ${beaBearer}`, mint);
  await changeUser(folder, beaId, { scopes: ['apikeys:write'] });
  t.match(await request.finish(), { status: 403, json: { detail: 'Missing scope: store:read' } });
  t.equal((await call('GET')).json.total, 0);
});

t.test('a request whose client disconnects leaves nothing in flight', async (t) => {
  const { port, beaBearer, managementPort } = await start(t);
  const client = await connectRaw(port);
  client.write(
    `POST ${keysPath} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${beaBearer}\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n`,
  );
  await client.response();
  t.equal(await openStreams(managementPort), 1);
  client.reset();
  while ((await openStreams(managementPort)) > 0);
  t.pass('it is forgotten');
});

async function openStreams(managementPort: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${managementPort}/metrics`)).text();
  return Number(/^postern_open_streams (\d+)$/m.exec(metrics)![1]);
}
