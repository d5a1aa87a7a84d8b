import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import type { TestScope } from '../gateway/gateway.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import { makeCertificate } from './certificates.ts';
import { guessPort } from './loopback-port.ts';

const cache = join(import.meta.dirname, '../../../node_modules/.cache/upstreams');

/** Programs that `test/upstreams/install.sh` brings for certificates, by name. */
export const acmePrograms = {
  pebble: join(cache, 'pebble'),
  names: join(cache, 'pebble-challtestsrv'),
  caddy: join(cache, 'caddy'),
  certbot: join(cache, 'venv/bin/certbot'),
} as const;

/** True if all of {@link acmePrograms} are installed. */
export const hasAcmePrograms = Object.values(acmePrograms).every((file) => existsSync(file));

/** A certificate authority that issues as Let's Encrypt does, to names that all lead to 127.0.0.1. */
export interface AcmeServer {
  readonly directory: string;
  /** Certificate of the server itself, which clients have to trust. */
  readonly certFile: string;
  /** Root of the certificates that it issues, as PEM; a new one at each start. */
  readonly rootFile: string;
}

/** Starts Pebble; it validates at these ports in place of 80 and 443. */
export async function startAcmeServer(
  t: TestScope,
  ports: { readonly http: number; readonly https: number },
): Promise<AcmeServer> {
  const folder = makeTemporaryFolder('postern-acme-');
  const first = guessPort();
  const [acme, management, dns, dnsManagement] = [first, first + 1, first + 2, first + 3];
  const { certFile, keyFile } = makeCertificate(folder, 'acme', ['IP:127.0.0.1']);
  const config = {
    listenAddress: `127.0.0.1:${acme}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: certFile,
    privateKey: keyFile,
    httpPort: ports.http,
    tlsPort: ports.https,
  };
  const file = join(folder, 'pebble.json');
  writeFileSync(file, JSON.stringify({ pebble: config }));
  const off = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-doh', ''];
  const names = [
    '-defaultIPv6',
    '',
    '-dnsserver',
    `127.0.0.1:${dns}`,
    '-management',
    `127.0.0.1:${dnsManagement}`,
  ];
  const children: ChildProcess[] = [
    spawn(acmePrograms.names, [...names, ...off]),
    spawn(acmePrograms.pebble, ['-config', file, '-dnsserver', `127.0.0.1:${dns}`], {
      env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0' },
    }),
  ];
  let printed = '';
  for (const { stdout, stderr } of children)
    for (const stream of [stdout!, stderr!])
      stream.on('data', (chunk) => {
        printed += chunk;
      });
  t.teardown(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const rootFile = join(folder, 'root.pem');
  const root = await eventually('the authority is there', () => {
    if (children.some(({ exitCode }) => exitCode !== null)) throw new Error(printed);
    return get(`https://127.0.0.1:${management}/roots/0`);
  });
  writeFileSync(rootFile, root);
  return { directory: `https://127.0.0.1:${acme}/dir`, certFile, rootFile };
}

/** The body of a response, whoever it is from. */
function get(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { rejectUnauthorized: false }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve(text);
    })
      .on('error', reject)
      .end();
  });
}
