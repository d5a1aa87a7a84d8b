import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Peer, RunningPeer } from '../../bench/peers/peer.ts';
import { probe } from '../../bench/probe.ts';
import { witnessTarget } from '../../bench/programs/witness.ts';

const good = 'a-good-credential';

/** What a peer does with a request: whether it lets it pass, and what it tells the upstream of who is calling. */
interface Behaviour {
  readonly passes: (credential: unknown) => boolean;
  readonly identity: (request: IncomingMessage) => string | undefined;
}

/** A proxy and its upstream in one server; resolves with what the probe says of it. */
async function verdict(t: Test, { passes, identity }: Behaviour, identityHeader = 'X-Auth-Subject') {
  let seen = '';
  const server = createServer((request, response) => {
    if (request.url === witnessTarget) return response.end(seen);
    if (!passes(request.headers['x-api-key'])) return response.writeHead(401).end();
    const value = identity(request);
    seen = `GET / HTTP/1.1\r\nHost: a${value === undefined ? '' : `\r\nx-auth-subject: ${value}`}`;
    return response.end('x'.repeat(1024));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const peer: Peer = {
    ...{ name: 'a', description: 'a', refusal: 401, identity: identityHeader, version: () => '1' },
    start: () => Promise.reject(new Error('it runs')),
  };
  const credentials = { header: 'X-API-Key', values: [good] };
  return probe(peer, { port, credentials } as unknown as RunningPeer, port);
}

const isGood = (credential: unknown) => credential === good;

t.test('a peer that refuses the bad and names the good is measured', async (t) => {
  await t.resolves(verdict(t, { passes: isGood, identity: () => 'subject-1' }));
});

t.test('a peer that lets everybody pass is not', async (t) => {
  await t.rejects(verdict(t, { passes: () => true, identity: () => 'subject-1' }), /200 to a bad credential/);
});

t.test('nor is one that refuses everybody', async (t) => {
  await t.rejects(verdict(t, { passes: () => false, identity: () => 'subject-1' }), /answered 401 with 0/);
});

t.test('nor one that names nobody', async (t) => {
  await t.rejects(verdict(t, { passes: isGood, identity: () => undefined }), /got no X-Auth-Subject/);
});

t.test('nor one that believes the client', async (t) => {
  const identity = ({ headers }: IncomingMessage) => String(headers['x-auth-subject']);
  await t.rejects(verdict(t, { passes: isGood, identity }), /made up/);
});
