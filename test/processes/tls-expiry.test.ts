import { X509Certificate } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { outcomeOf } from '../support/clients/tls-client.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { requireProgram } from '../support/programs.ts';
import type { Certificate } from '../support/servers/certificates.ts';
import { forServers, makeAuthority } from '../support/servers/issued-certificates.ts';

const dayMs = 86_400_000;
const extensions = forServers;

function makeFiles(t: Test) {
  const folder = t.testdir();
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  const put = ({ certFile, keyFile }: Certificate) => {
    copyFileSync(keyFile, files.key);
    copyFileSync(certFile, files.cert);
  };
  return { folder, files, put };
}

t.test('a certificate that expires while it is in use is called so once', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { folder, files, put } = makeFiles(t);
  const authority = makeAuthority(folder, 'authority', 5);
  const own = authority.issue('own', { extensions, to: 3 });
  put(own);
  const listen = { tls: { ...files, client_ca: authority.caFile, client_certificate: 'request' } };
  const { managementPort, advance, logLines, port } = await startTestGateway(t, { config: { listen } });
  const expiry = async (file: string) =>
    (await scrape(managementPort)).value('certificate_expiry_timestamp_seconds', { file });
  const end = new X509Certificate(own.cert).validToDate;
  t.equal(await expiry('cert'), end.getTime() / 1000);
  t.ok((await expiry('client_ca')) > (await expiry('cert')));
  const errors = () => logLines().filter(({ level }) => level === 'error');
  t.strictSame(errors(), []);
  advance(4 * dayMs);
  await eventually('the certificate is called expired', () => errors().length === 1);
  const expired_at = end.toISOString();
  const file = 'listen.tls.cert';
  t.match(errors()[0], { msg: 'certificate has expired', file, subject: 'CN=own', expired_at });
  advance(2 * dayMs);
  await eventually('so is the authority', () => errors().length === 2);
  t.match(errors()[1], { msg: 'certificate has expired', file: 'listen.tls.client_ca' });
  t.equal(await outcomeOf(port), 200, 'it is served none the less');
});

t.test('a replacement outside its own time is not called a renewed certificate', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { folder, files, put } = makeFiles(t);
  const authority = makeAuthority(folder, 'authority');
  put(authority.issue('first', { extensions }));
  const { managementPort, logLines } = await startTestGateway(t, { config: { listen: { tls: files } } });
  // Without those of a moment at which only one of the two files was replaced.
  const about = () =>
    logLines().filter(({ msg }) => /^(?:TLS files reloaded$|reloaded certificate)/.test(String(msg)));
  const rows = [
    ['has expired', { from: -3, to: -1 }],
    ['is not valid yet', { from: 1, to: 3 }],
  ] as const;
  for (const [index, [problem, times]] of rows.entries()) {
    const { cert } = await replace(`replacement-${index}`, times);
    await eventually('it is reported', () => about().length === index + 1);
    const msg = `reloaded certificate ${problem}`;
    t.match(about()[index], { level: 'error', msg, subject: `CN=replacement-${index}` });
    const scraped = await scrape(managementPort);
    const seconds = scraped.value('certificate_expiry_timestamp_seconds', { file: 'cert' });
    t.equal(seconds, new X509Certificate(cert).validToDate.getTime() / 1000);
  }
  const { cert } = await replace('good', {});
  await eventually('it is reported', () => about().length === 3);
  const certificate_valid_until = new X509Certificate(cert).validToDate.toISOString();
  t.match(about()[2], {
    level: 'info',
    msg: 'TLS files reloaded',
    listener: 'listen',
    certificate_valid_until,
  });

  async function replace(label: string, times: object) {
    const made = authority.issue(label, { extensions, ...times });
    put(made);
    return made;
  }
});

t.test('without TLS there is nothing that could expire', async (t) => {
  const { managementPort } = await startTestGateway(t);
  const { text } = await scrape(managementPort);
  t.notMatch(text, /^postern_certificate_expiry/m);
});
