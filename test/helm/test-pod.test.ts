import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { requireProgram } from '../support/programs.ts';
import { forServers, makeAuthority } from '../support/servers/issued-certificates.ts';
import { leastValues, render, requireHelm, theOnly } from './helm.ts';

const tls = { existingSecret: 'acme-tls', clientCa: { existingSecret: 'acme-clients' } };
const files = { cert: '/tls.crt', key: '/tls.key', client_ca: '/ca.crt' };
const ownFiles = (more: object) => ({
  config: { ...leastValues.config, listen: { tls: { ...files, ...more } } },
});

/** Values, and whether the pod expects to be refused for want of a certificate. */
const rows: [sentence: string, values: object, expects: boolean][] = [
  ['without client certificates', { tls: { existingSecret: 'acme-tls' } }, false],
  ['where they are required', { tls }, true],
  ['where they are requested', { tls: { ...tls, clientCertificate: 'request' } }, false],
  ['where the configuration requires them', ownFiles({}), true],
  ['where the configuration requests them', ownFiles({ client_certificate: 'request' }), false],
];

function testPod(values: object) {
  return theOnly(render({ ...leastValues, ...values }), 'Pod').spec.containers[0];
}

/** Runs what the pod runs, with its environment but for the address; resolves with the exit code. */
async function runThere({ command, args, env }: any, url: string): Promise<number> {
  const given = Object.fromEntries(env.map(({ name, value }: any) => [name, value]));
  const [, ...options] = command;
  const child = spawn(process.execPath, [...options, ...args], {
    env: { ...given, URL: url },
    stdio: 'ignore',
  });
  const [code] = await once(child, 'exit');
  return code;
}

t.test('the pod of helm test asks where the API is', async (t) => {
  if (!requireHelm(t)) return;
  const config = { api_path: '/gate/api' };
  const { port } = await startTestGateway(t, { config });
  const url = `http://127.0.0.1:${port}`;
  t.equal(await runThere(testPod({ config: { ...leastValues.config, ...config } }), url), 0);
  const elsewhere = { api_path: '/elsewhere' };
  t.equal(await runThere(testPod({ config: { ...leastValues.config, ...elsewhere } }), url), 1);
});

t.test('the pod of helm test', async (t) => {
  if (!requireHelm(t) || !requireProgram(t, 'openssl')) return;
  const authority = makeAuthority(t.testdir(), 'authority');
  const { certFile: cert, keyFile: key } = authority.issue('own', { extensions: forServers });
  const start = async (more: object) => {
    const { port } = await startTestGateway(t, { config: { listen: { tls: { cert, key, ...more } } } });
    return `https://127.0.0.1:${port}`;
  };
  const open = await start({});
  const closed = await start({ client_ca: authority.caFile });
  for (const [sentence, values, expects] of rows) {
    const pod = testPod(values);
    t.equal(await runThere(pod, open), expects ? 1 : 0, `${sentence}, at a gateway that lets everybody in`);
    t.equal(await runThere(pod, closed), expects ? 0 : 1, `${sentence}, at one that requires a certificate`);
  }
});
