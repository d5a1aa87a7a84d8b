import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { loadTls } from '../../src/listeners/watched-certificate.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { requireProgram } from '../support/programs.ts';
import { type Certificate, makeCertificate } from '../support/servers/certificates.ts';

/** A gateway whose certificate files are in a folder of the test. */
async function start(t: Test, files: { readonly cert: string; readonly key: string }) {
  const listen = { host: '127.0.0.1', port: 0, tls: files };
  return startTestGateway(t, { config: { listen, shutdown: { timeout: '50ms' } } });
}

/** A connection that has served a request, and the fingerprint of the certificate it was given. */
async function call(port: number): Promise<{ readonly socket: TLSSocket; readonly shown: string }> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await request(socket);
  return { socket, shown: socket.getPeerCertificate().subject.CN as string };
}

function request(socket: TLSSocket): Promise<void> {
  socket.write('GET /api/open/x HTTP/1.1\r\nHost: a\r\n\r\n');
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('data', (chunk) => {
      if (chunk.toString().startsWith('HTTP/1.1 200')) resolve();
      else reject(new Error(chunk.toString()));
    });
  });
}

async function shownNow(port: number): Promise<string> {
  const { socket, shown } = await call(port);
  socket.destroy();
  return shown;
}

/** Resolves once new connections are shown that certificate. */
async function untilShown(port: number, label: string): Promise<void> {
  await eventually(`${label} is shown`, async () => (await shownNow(port)) === label);
}

const put = (certificate: Certificate, { cert, key }: { cert: string; key: string }) => {
  copyFileSync(certificate.keyFile, key);
  copyFileSync(certificate.certFile, cert);
};

t.test('a renewed certificate is shown to new connections, and old ones go on', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const folder = t.testdir();
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  put(makeCertificate(folder, 'first', ['DNS:a']), files);
  const { port, logLines } = await start(t, files);
  const old = await call(port);
  t.equal(old.shown, 'first');
  for (const label of ['second', 'third']) {
    put(makeCertificate(folder, label, ['DNS:a']), files);
    await untilShown(port, label);
    await request(old.socket);
  }
  old.socket.destroy();
  t.ok(logLines().some(({ msg }) => msg === 'TLS files reloaded'));
});

t.test('a pair that does not fit together changes nothing until it does', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const folder = t.testdir();
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  put(makeCertificate(folder, 'first', ['DNS:a']), files);
  const { port, managementPort, logLines } = await start(t, files);
  const isSuccessful = async () => (await scrape(managementPort)).value('config_last_reload_successful');
  const second = makeCertificate(folder, 'second', ['DNS:a']);
  const complaints = () => logLines().filter(({ level }) => level === 'error').length;

  copyFileSync(second.certFile, files.cert);
  await eventually('complaint 1', () => complaints() === 1);
  t.equal(await shownNow(port), 'first');
  t.equal(await isSuccessful(), 0);
  copyFileSync(join(folder, 'first.crt'), files.cert);
  await eventually('the old pair counts again', async () => (await isSuccessful()) === 1);
  writeFileSync(files.cert, '-----BEGIN CERTIFICATE-----\nhalf');
  await eventually('complaint 2', () => complaints() === 2);
  t.equal(await shownNow(port), 'first');
  rmSync(files.cert);
  await eventually('complaint 3', () => complaints() === 3);
  t.equal(await shownNow(port), 'first');

  t.equal(await isSuccessful(), 0);
  put(second, files);
  await untilShown(port, 'second');
  const shown = await scrape(managementPort);
  t.equal(shown.value('config_last_reload_successful'), 1);
  t.equal(shown.value('config_reloads_total', { outcome: 'failed' }), complaints());
});

t.test('a certificate and the key of another are refused from the start', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const folder = t.testdir();
  const { certFile: cert } = makeCertificate(folder, 'first', ['DNS:a']);
  const { keyFile: key } = makeCertificate(folder, 'second', ['DNS:a']);
  const mode = { client_certificate: 'require' } as const;
  t.throws(() => loadTls({ cert, key, ...mode }), { code: 'ERR_OSSL_X509_KEY_VALUES_MISMATCH' });
  t.throws(() => loadTls({ cert, key: join(folder, 'none'), ...mode }), { code: 'ENOENT' });
});

t.test('a mounted secret is renewed by swapping a link', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const folder = t.testdir();
  const mount = (label: string) => {
    mkdirSync(join(folder, label));
    const { certFile, keyFile } = makeCertificate(folder, `${label}-made`, ['DNS:a']);
    copyFileSync(certFile, join(folder, label, 'tls.crt'));
    copyFileSync(keyFile, join(folder, label, 'tls.key'));
    symlinkSync(label, join(folder, '..new'));
    renameSync(join(folder, '..new'), join(folder, '..data'));
  };
  mount('first');
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), join(folder, name));
  const { port } = await start(t, { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') });
  t.equal(await shownNow(port), 'first-made');
  mount('second');
  await untilShown(port, 'second-made');
});
