import { copyFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { startReloaded } from '../support/gateway/reload.ts';
import { requireProgram } from '../support/programs.ts';
import { type Certificate, makeCertificate } from '../support/servers/certificates.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';

async function startRecording(t: Test) {
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  return upstream;
}

/** An HTTPS upstream with that certificate, by its URL. */
async function startTls(t: Test, { cert, key }: Certificate): Promise<string> {
  const server = createServer({ cert, key }, (_request, response) => response.end('over TLS'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('an upstream that moved is asked at its new address, and only there', async (t) => {
  const [before, after] = [await startRecording(t), await startRecording(t)];
  const gateway = await startReloaded(t, { upstreams: { app: { url: before.url } } });
  t.equal(await gateway.statusOf('/api/1'), 200);
  t.strictSame(
    [before, after].map(({ seen }) => seen.length),
    [1, 0],
  );
  gateway.reload({ upstreams: { app: { url: after.url } } });
  await eventually('the new one is asked', async () => {
    await gateway.ask('/api/2');
    return after.seen.length > 0;
  });
  const asked = before.seen.length;
  t.equal(await gateway.statusOf('/api/3'), 200);
  t.equal(after.seen.at(-1)!.target, '/api/3');
  t.equal(before.seen.length, asked);
});

t.test('a replaced certificate authority takes effect', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const folder = t.testdir();
  const certificate = makeCertificate(folder, 'upstream', ['IP:127.0.0.1']);
  const other = makeCertificate(folder, 'other', ['IP:127.0.0.1']);
  const ca = join(folder, 'ca.crt');
  copyFileSync(other.certFile, ca);
  const url = await startTls(t, certificate);
  const gateway = await startReloaded(t, { upstreams: { app: { url, tls: { ca } } } });
  t.equal(await gateway.statusOf(), 502);
  copyFileSync(certificate.certFile, ca);
  await eventually('it is trusted', async () => (await gateway.statusOf()) === 200);
  copyFileSync(other.certFile, ca);
  await eventually('it is trusted no longer', async () => (await gateway.statusOf()) === 502);
});
