import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { connectCheckClient } from '../support/clients/check-client.ts';
import { startDeciding } from '../support/clients/decisions.ts';
import { connectTo, outcomeOf, request } from '../support/clients/tls-client.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { requireProgram } from '../support/programs.ts';
import type { Certificate } from '../support/servers/certificates.ts';
import { type Authority, forServers, makeAuthority } from '../support/servers/issued-certificates.ts';

const engines = ['built_in', 'node'];
const subject = '/C=DE/O=Acme, Inc. "north"/CN=billing \\+ Ünï\t1';
const asWritten = 'CN=billing \\+ Ünï\\091,O=Acme\\, Inc. \\"north\\",C=DE';

interface Certificates {
  readonly folder: string;
  readonly authority: Authority;
  readonly server: Certificate;
  readonly good: Certificate;
  /** Each of them must be refused. */
  readonly bad: Readonly<Record<string, Certificate>>;
}

function makeCertificates(t: Test): Certificates {
  const folder = t.testdir();
  const authority = makeAuthority(folder, 'authority');
  return {
    folder,
    authority,
    server: authority.issue('server', { extensions: forServers }),
    good: authority.issue('good', { subject }),
    bad: {
      'of another authority': makeAuthority(folder, 'other').issue('foreign'),
      'of an authority with the same name': impostor(folder),
      expired: authority.issue('expired', { from: -3, to: -1 }),
      'not valid yet': authority.issue('early', { from: 1, to: 3 }),
      'for servers alone': authority.issue('wrong-use', { extensions: forServers }),
    },
  };
}

function impostor(folder: string): Certificate {
  const apart = join(folder, 'apart');
  mkdirSync(apart);
  return makeAuthority(apart, 'authority').issue('impostor');
}

function start(t: Test, { server, authority }: Certificates, engine: string, tls: object) {
  const pair = { cert: server.certFile, key: server.keyFile };
  const listen = { engine, tls: { ...pair, client_ca: authority.caFile, ...tls } };
  return startTestGateway(t, { config: { listen, shutdown: { timeout: '50ms' } } });
}

for (const engine of engines) {
  t.test(`${engine}: a certificate is required by default, and none but a good one will do`, async (t) => {
    if (!requireProgram(t, 'openssl')) return;
    const made = makeCertificates(t);
    const { port, managementPort, logLines } = await start(t, made, engine, {});
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const alert = maxVersion === 'TLSv1.3' ? /CERTIFICATE_REQUIRED/ : /alert handshake failure/;
      t.match(await outcomeOf(port, { maxVersion }), alert, 'an alert, no HTTP');
      const { cert, key } = made.good;
      t.equal(await outcomeOf(port, { cert, key, maxVersion }), 200);
      for (const [which, { cert, key }] of Object.entries(made.bad)) {
        const outcome = await outcomeOf(port, { cert, key, maxVersion });
        t.equal(typeof outcome, 'string', `${which}, ${maxVersion}: ${outcome}`);
      }
    }
    const failures = await scrape(managementPort);
    const counted = (reason: string) => failures.value('tls_handshake_failures_total', { reason });
    t.equal(counted('client_certificate_missing'), 2);
    t.equal(counted('client_certificate_invalid'), 2 * Object.keys(made.bad).length);
    const lines = logLines().filter(({ msg }) => msg === 'request');
    t.strictSame([...new Set(lines.map((line) => line.client_certificate))], [asWritten]);
    t.equal(lines.length, 2);
  });

  t.test(`${engine}: a requested certificate may be missing, but not be a bad one`, async (t) => {
    if (!requireProgram(t, 'openssl')) return;
    const made = makeCertificates(t);
    const { port, logLines } = await start(t, made, engine, { client_certificate: 'request' });
    t.equal(await outcomeOf(port), 200);
    t.equal(await outcomeOf(port, { cert: made.good.cert, key: made.good.key }), 200);
    for (const [which, { cert, key }] of Object.entries(made.bad)) {
      const outcome = await outcomeOf(port, { cert, key });
      t.equal(typeof outcome, 'string', `${which}: ${outcome}`);
    }
    const lines = logLines().filter(({ msg }) => msg === 'request');
    t.strictSame(
      lines.map((line) => line.client_certificate),
      [undefined, asWritten],
    );
  });

  t.test(`${engine}: no session is resumed where certificates are asked for`, async (t) => {
    if (!requireProgram(t, 'openssl')) return;
    const made = makeCertificates(t);
    const { cert, key } = made.good;
    for (const client_certificate of ['request', 'require', undefined]) {
      const tls = client_certificate === undefined ? { client_ca: undefined } : { client_certificate };
      const { port } = await start(t, made, engine, tls);
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const session = await sessionOf(port, { cert, key, maxVersion });
        const again = connectTo(port, { cert, key, maxVersion, session });
        t.equal(await request(again), 200);
        const isExpected = client_certificate === undefined;
        t.equal(again.isSessionReused(), isExpected, `${client_certificate}, ${maxVersion}`);
        again.destroy();
      }
    }
  });

  t.test(
    `${engine}: another authority in the file counts for new connections and for those there are`,
    async (t) => {
      if (!requireProgram(t, 'openssl')) return;
      const made = makeCertificates(t);
      const { folder, good, authority } = made;
      const client_ca = join(folder, 'clients.crt');
      copyFileSync(authority.caFile, client_ca);
      const { port, upstream, logLines } = await start(t, made, engine, { client_ca });
      const [idle, waiting, streaming] = [
        connectTo(port, good),
        connectTo(port, good),
        connectTo(port, good),
      ];
      t.equal(await request(idle), 200);
      const held: ServerResponse[] = [];
      upstream.response = ({ url }, response) => {
        if (url === '/api/open/x') response.end();
        else held.push(response.writeHead(200));
        if (url === '/api/open/begun') response.write('begun');
      };
      const response = request(waiting, '/api/open/held');
      t.equal(await request(streaming, '/api/open/begun'), 200);
      await eventually('both have arrived', () => held.length === 2);

      const next = makeAuthority(folder, 'next');
      copyFileSync(next.caFile, client_ca);
      const closed = Promise.all([idle, waiting, streaming].map((socket) => once(socket, 'close')));
      await eventually(
        'the old one is refused',
        async () => typeof (await outcomeOf(port, good)) === 'string',
      );
      t.equal(waiting.closed || streaming.closed, false, 'what is in progress goes on');
      for (const response of held) response.end('end');
      t.equal(await response, 200);
      await closed;
      t.equal(await outcomeOf(port, next.issue('new')), 200);
      t.ok(logLines().some(({ msg }) => msg === 'TLS files reloaded'));
    },
  );

  t.test(`${engine}: asking for certificates can be switched without a restart`, async (t) => {
    if (!requireProgram(t, 'openssl')) return;
    const made = makeCertificates(t);
    const pair = { cert: made.server.certFile, key: made.server.keyFile };
    const gateway = await start(t, made, engine, { client_ca: undefined });
    const { port } = gateway;
    const before = connectTo(port);
    t.equal(await request(before), 200);
    const { cert, key } = made.good;
    const session = await sessionOf(port, { cert, key, maxVersion: 'TLSv1.2' });
    const client_ca = made.authority.caFile;
    const listen = (tls: object) => ({ listen: { engine, tls: { ...pair, ...tls } } });
    await gateway.reload(listen({ client_ca }));
    t.match(await outcomeOf(port), /CERTIFICATE_REQUIRED/);
    const again = connectTo(port, { cert, key, maxVersion: 'TLSv1.2', session });
    t.equal(await request(again), 200);
    t.notOk(again.isSessionReused(), 'not even one of before');
    again.destroy();
    if (!before.closed) await once(before, 'close');
    await gateway.reload(listen({ client_ca, client_certificate: 'request' }));
    t.equal(await outcomeOf(port), 200);
    await gateway.reload(listen({}));
    t.equal(await outcomeOf(port, made.bad.expired), 200, 'which is not asked for');
  });
}

t.test('gRPC: who asks is in the access line, and has to ask anew once others are admitted', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { folder, authority, server, good } = makeCertificates(t);
  const client_ca = join(folder, 'clients.crt');
  copyFileSync(authority.caFile, client_ca);
  const tls = { cert: server.certFile, key: server.keyFile, client_ca };
  const { decisionPorts, logLines } = await startDeciding(t, {
    forward_auth: [{ mode: 'envoy_grpc', port: 0, host: 'localhost', proxies: ['127.0.0.1', '::1'], tls }],
  });
  const clientOf = (own?: Certificate) =>
    connectCheckClient(t, decisionPorts[0]!, {
      ca: readFileSync(authority.caFile),
      ...(own && { own }),
    });
  const question = { path: '/api/x', headerMap: [[':path', '/api/x']] as const };
  const client = clientOf(good);
  t.match(await client.check(question), { status: 401 });
  t.match(
    logLines().filter((line) => line.forward_auth === 'envoy_grpc'),
    [{ client_certificate: asWritten }],
  );
  await t.rejects(clientOf().check(question), { code: 14 }, 'without one');

  copyFileSync(makeAuthority(folder, 'next').caFile, client_ca);
  await eventually('the connection is not used any more', () =>
    client.check(question).then(
      () => false,
      ({ code }) => code === 14,
    ),
  );
});

/** A session that the server has offered to resume, or the empty one of TLS 1.3 if it has not. */
async function sessionOf(port: number, options: object): Promise<Buffer | undefined> {
  const socket = connectTo(port, options);
  let session: Buffer | undefined;
  socket.on('session', (offered) => {
    session = offered;
  });
  await request(socket);
  socket.destroy();
  return session;
}
