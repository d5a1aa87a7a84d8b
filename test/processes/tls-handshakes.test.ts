import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { handshakeFailures } from '../../src/http1/server/handshake-failure.ts';
import { outcomeOf } from '../support/clients/tls-client.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { requireProgram } from '../support/programs.ts';
import { makeCertificate } from '../support/servers/certificates.ts';

/** Sends bytes in place of a handshake, and waits for the end of the connection; `leaves`: by closing it. */
async function send(port: number, bytes: string, leaves = false): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  await once(socket, 'connect');
  socket.write(bytes, 'latin1');
  if (leaves) socket.end();
  if (!socket.closed) await once(socket, 'close');
}

const halfARecord = '\x16\x03\x01\x02\x00\x01';

for (const engine of ['built_in', 'node'])
  t.test(`${engine}: failed handshakes are counted by reason, and few lines have all of them`, async (t) => {
    if (!requireProgram(t, 'openssl')) return;
    const { certFile: cert, keyFile: key } = makeCertificate(t.testdir(), 'own', ['IP:127.0.0.1']);
    const listen = { engine, tls: { cert, key } };
    const limits = { header_timeout: '300ms' };
    const gateway = await startTestGateway(t, { config: { listen, limits } });
    const { port, managementPort, logLines, stop } = gateway;
    const openssl = async (...args: string[]) => {
      const client = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, ...args]);
      client.stdin.end();
      await once(client, 'close');
    };
    const counts = async () => {
      const scraped = await scrape(managementPort);
      const value = (reason: string) => scraped.value('tls_handshake_failures_total', { reason });
      return Object.fromEntries(handshakeFailures.map((reason) => [reason, value(reason)]));
    };
    const lines = () => logLines().filter(({ msg }) => msg === 'TLS handshakes failed');
    const none = Object.fromEntries(handshakeFailures.map((reason) => [reason, 0]));
    t.strictSame(await counts(), none, 'each is there from the start');

    await send(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually('a line', () => lines().length === 1);
    t.match(lines()[0], {
      level: 'info',
      count: 1,
      reasons: { not_tls: 1 },
      last: { listener: 'listen', code: 'ERR_SSL_HTTP_REQUEST', address: '127.0.0.1' },
    });
    await send(port, 'SSH-2.0-x\r\n');
    await openssl('-tls1_1', '-cipher', 'ALL:@SECLEVEL=0');
    await openssl('-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-SHA');
    await openssl('-alpn', 'h2');
    for (const version of ['-tls1_2', '-tls1_3']) await openssl(version, '-verify_return_error');
    await send(port, halfARecord, true);
    await send(port, halfARecord);
    t.equal(await outcomeOf(port), 200);
    const expected = {
      ...none,
      not_tls: 2,
      version: 1,
      cipher: 1,
      alpn: 1,
      certificate_refused: 2,
      closed: 1,
      timeout: 1,
    };
    await eventually('all are counted', async () => (await counts()).timeout === 1);
    t.strictSame(await counts(), expected);
    t.equal(lines().length, 1, 'no other line within a minute');
    await stop();
    const reasons = {
      not_tls: 1,
      version: 1,
      cipher: 1,
      alpn: 1,
      certificate_refused: 2,
      closed: 1,
      timeout: 1,
    };
    t.match(lines()[1], { count: 8, reasons });
    t.equal(lines().length, 2);
  });
