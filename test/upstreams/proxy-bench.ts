import type { Test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { printProxyConfiguration } from '../../src/forward-auth/printed/configurations.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';
import type { Certificate } from '../support/servers/certificates.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import type { SeenRequest } from '../support/servers/recording-upstream.ts';
import type { AskingProxy } from './asking-proxies.ts';
import { runProxy } from './proxy-program.ts';

const routes = [
  { prefix: '/api/store', upstream: 'app', scopes: { read: ['store:read'], write: ['store:write'] } },
  { prefix: '/api/open', upstream: 'app', public: true },
  { prefix: '/api', upstream: 'app' },
];

/** What a session of the bench's holds besides. */
export const manyScopes = Array.from({ length: 150 }, (_, index) => `department${index}-resource:write`);

/** A proxy in front of the recording upstream, which asks the gateway. */
export interface ProxyBench extends Forwarding {
  /** What the proxy has printed. */
  output(): string;
  readonly proxyPort: number;
  /** It has the room that is printed for it: every body passes, whatever comes with its head. */
  readonly isRoomy: boolean;
  /** Sends bytes to the proxy, from that address; the status of its response, 0 if it closes without one. */
  send(
    requestLine: string,
    lines?: readonly string[],
    body?: string,
    from?: string,
    host?: string,
  ): Promise<number>;
}

/** How it asks. */
export interface Asking {
  /** TLS, with that certificate; `caFile` says whom the proxy trusts. */
  readonly tls?: { readonly certificate: Certificate; readonly caFile: string };
  /** Whether the proxy accepts the certificate. */
  readonly isTrusted?: boolean;
  /** Changes what is printed. */
  readonly edit?: (text: string) => string;
  /** Further sections of the gateway's configuration. */
  readonly config?: object;
  /** Whether browsers are served; by default they aren't. */
  readonly browser?: boolean;
  /** Whether answers carry an assertion; by default they do. */
  readonly isSigned?: boolean;
}

/** Starts both with ports that are likely free, and with others if one was taken. */
export async function startBench(...what: Parameters<typeof tryBench>): Promise<ProxyBench | undefined> {
  for (let attempt = 1; ; attempt++)
    try {
      return await tryBench(...what);
    } catch (error) {
      if (attempt === 3 || !/in use/i.test(String(error))) throw error;
    }
}

async function tryBench(
  t: Test,
  name: string,
  proxy: AskingProxy,
  { tls, isTrusted = true, edit, config: sections, isSigned = true, browser = false }: Asking = {},
): Promise<ProxyBench | undefined> {
  const program = proxy.find();
  if (program === undefined) {
    t.pass(`needs ${name}`, { skip: `${name} is not installed: see test/upstreams/install.sh` });
    return undefined;
  }
  const [port, decisionPort, proxyPort] = [guessPort(), guessPort(), guessPort()];
  const forwarding = await startForwarding(t, {
    listen: { port },
    forward_auth: [
      {
        mode: proxy.mode,
        port: decisionPort,
        browser,
        // Clients come from others, and so does no proxy.
        proxies: ['127.0.0.1'],
        ...(isSigned && { assertion: { audience: 'app' } }),
        ...(tls && { tls: { cert: tls.certificate.certFile, key: tls.certificate.keyFile } }),
      },
    ],
    routes,
    scopes: Object.fromEntries(['store:read', 'store:write', ...manyScopes].map((name) => [name, name])),
    ...sections,
  });
  const { config } = loadConfig(forwarding.configFile, process.env);
  const { url: service } = forwarding.upstream;
  const options = { listen: `127.0.0.1:${proxyPort}`, service, ...(tls && { host: 'localhost' }) };
  const printed = printProxyConfiguration(config!, proxy.printed, options);
  const started = { port: proxyPort, service, ...(tls && { caFile: tls.caFile }), ...(edit && { edit }) };
  const running = runProxy(t, program, proxy, printed, started);
  const send: ProxyBench['send'] = async (
    requestLine,
    lines = [],
    body = '',
    from = '127.0.0.1',
    host = 'app.example',
  ) => {
    const connection = await connectRaw(proxyPort, undefined, false, from);
    const late = setTimeout(() => connection.reset(), 10_000);
    const close = lines.some((line) => line.startsWith('Connection:')) ? [] : ['Connection: close'];
    connection.write([requestLine, `Host: ${host}`, ...close, ...lines, '', body].join('\r\n'));
    const status = await connection.response().then(
      (response) => response.status,
      () => 0,
    );
    connection.reset();
    clearTimeout(late);
    return status;
  };
  let ready = 0;
  await eventually(`${name} on port ${proxyPort}`, async () => {
    if (running.hasEnded()) return true;
    ready = await send('GET /api/open/ready HTTP/1.1').catch(() => 0);
    return isTrusted ? ready === 200 : ready !== 0;
  }).catch(() => {});
  if (running.hasEnded() || (isTrusted && ready !== 200)) throw new Error(running.output().slice(-3000));
  forwarding.upstream.seen.length = 0;
  return {
    ...forwarding,
    proxyPort,
    isRoomy: edit === undefined,
    send,
    output: running.output,
  };
}

/** What the upstream saw of the last request; clears its record. */
export function takeSeen({ upstream }: ProxyBench): SeenRequest | undefined {
  return upstream.seen.splice(0).at(-1);
}
