import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  type Listener,
  modernRows,
  otherRows,
  type Row,
  refusedRows,
  suiteRows,
  versionRows,
} from '../support/clients/tls-accepted.ts';
import { outcomeOf } from '../support/clients/tls-client.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { requireProgram } from '../support/programs.ts';
import {
  type Authority,
  ellipticKey,
  forServers,
  makeAuthority,
} from '../support/servers/issued-certificates.ts';

const document = join(import.meta.dirname, '../../docs/tls.md');
const markers = [
  '<!-- begin: written by test/processes/tls-accepted.test.ts -->\n',
  '<!-- end -->\n',
] as const;

const isLong = process.env.POSTERN_TEST_LONG !== undefined;

const keys = {
  'ECDSA P-256': ellipticKey,
  'RSA 2048': ['-newkey', 'rsa:2048'],
  Ed25519: ['-newkey', 'ed25519'],
};

async function startListener(t: Test, engine: string, tls: object): Promise<number> {
  return (await startTestGateway(t, { config: { listen: { engine, tls } } })).port;
}

async function startListeners(t: Test, engine: string, authority: Authority): Promise<Listener[]> {
  const listeners: Listener[] = [];
  for (const [key, how] of Object.entries(keys)) {
    const made = authority.issue(key.replace(' ', '-'), { extensions: forServers, key: how });
    const port = await startListener(t, engine, { cert: made.certFile, key: made.keyFile });
    listeners.push({ key, port });
  }
  return listeners;
}

function table(title: string, columns: readonly string[], rows: readonly Row[]): string {
  const lines = [[title, ...columns], columns.map(() => '---').concat('---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

async function describe(t: Test, engine: string): Promise<string> {
  const folder = t.testdir();
  const authority = makeAuthority(folder, 'authority');
  const listeners = await startListeners(t, engine, authority);
  const own = authority.issue('mutual', { extensions: forServers });
  const client = authority.issue('client');
  const mutual = { cert: own.certFile, key: own.keyFile, client_ca: authority.caFile };
  const mutualPort = await startListener(t, engine, mutual);
  const columns = Object.keys(keys);
  const shown = ['-cert', client.certFile, '-key', client.keyFile];
  return [
    table('version', columns, await versionRows(listeners)),
    table('suite of TLS 1.2', columns, await suiteRows(listeners)),
    table('other suites of TLS 1.2', columns, await refusedRows(listeners)),
    table('in TLS 1.3', columns, await modernRows(listeners)),
    table('what else a client may try', ['result'], await otherRows(listeners[0]!.port, mutualPort, shown)),
  ].join('\n');
}

// Both engines have the same settings of TLS: one is enough for the small size.
for (const engine of isLong ? ['built_in', 'node'] : ['built_in'])
  t.test(`${engine}: the listener accepts what docs/tls.md says, and nothing else`, async (t) => {
    if (!requireProgram(t, 'openssl')) return;
    const found = await describe(t, engine);
    const text = readFileSync(document, 'utf8');
    const [before, rest = ''] = text.split(markers[0]);
    const [documented, after] = rest.split(markers[1]);
    if (process.env.UPDATE === '1')
      writeFileSync(document, `${before}${markers[0]}${found}${markers[1]}${after}`);
    else t.equal(found, documented);
  });

// The openssl of many a system is older than the one in Node.
t.test('a client is served that offers ML-KEM with X25519 alone', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const own = makeAuthority(t.testdir(), 'authority').issue('own', { extensions: forServers });
  const port = await startListener(t, 'built_in', { cert: own.certFile, key: own.keyFile });
  t.equal(await outcomeOf(port, { ecdhCurve: 'X25519MLKEM768' }), 200);
  t.match(await outcomeOf(port, { ecdhCurve: 'SecP256r1MLKEM768' }), /alert handshake failure/);
});
