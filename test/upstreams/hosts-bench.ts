import type { Test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { printProxyConfiguration } from '../../src/forward-auth/printed/configurations.ts';
import { connectRaw, type RawResponse } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { hostCookieOf } from '../support/pages/host-cookies.ts';
import { startWebGateway, type WebGateway } from '../support/pages/web.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import {
  type RecordingUpstream,
  type SeenRequest,
  startRecordingUpstream,
} from '../support/servers/recording-upstream.ts';
import type { AskingProxy } from './asking-proxies.ts';
import { runProxy } from './proxy-program.ts';

/** The hosts of the bench, by the name of their upstream. */
export const places = {
  base: 'acme.example.com',
  wiki: 'wiki.acme.example.com',
  // Longer than nginx's names may be by default.
  files: 'files.of-a-department-with-a-long-name.other.example',
  preview: 'a1.preview.acme.dev',
  /** It has an entry of its own, after the wildcard. */
  inner: 'inner.preview.acme.dev',
} as const;
export type Place = keyof typeof places;
/** Every one. */
export const allPlaces = Object.keys(places) as Place[];

/** Ports of origins, which the service is told. */
export const portOf: Readonly<Record<Place, string>> = {
  base: '',
  wiki: '',
  files: ':8443',
  preview: ':8444',
  inner: '',
};
/** The host as browsers name it, and as the service is told. */
export const toldOf = (place: Place) => places[place] + portOf[place];
/** An origin whose pages may use the web cookie, and no host's. */
export const friend = 'https://friend.example';
export const consoleHost = 'console.acme.example.com';

const entries: Readonly<Record<Exclude<Place, 'base'>, string>> = {
  wiki: places.wiki,
  files: places.files,
  preview: '*.preview.acme.dev',
  inner: places.inner,
};

const routesOf = (place: Place) => {
  const of = { upstream: place, ...(place !== 'base' && { host: entries[place] }) };
  return [
    { ...of, prefix: '/open', browser: true, public: true },
    { ...of, prefix: '/strict', browser: true, scopes: ['store:write'] },
    { ...of, prefix: '/programs' },
    { ...of, prefix: '/app', browser: true },
  ];
};

/** A request that reached a service. */
export interface Delivered {
  readonly place: Place;
  readonly seen: SeenRequest;
}

/** A proxy in front of a service for each host, which asks the gateway. */
export interface HostsBench extends WebGateway {
  readonly proxyPort: number;
  readonly services: Readonly<Record<Place, RecordingUpstream>>;
  /** A key that may read. */
  readonly key: string;
  /** `name=value` of the web cookie. */
  readonly webCookie: string;
  /** Sends a request to the proxy; undefined if it closes the connection without a response. */
  send(requestLine: string, lines: readonly string[]): Promise<RawResponse | undefined>;
  /** The cookie by which the bench's user is signed in at a host. */
  cookieAt(host: string): string;
  /** What reached the services since the last call. */
  takeDelivered(): Delivered[];
  /** Lines of the log about decisions. */
  decisions(): Record<string, unknown>[];
  output(): string;
}

/** Starts both; undefined if the proxy isn't installed. */
export async function startHostsBench(
  t: Test,
  name: string,
  proxy: AskingProxy,
  { browser = true }: { readonly browser?: boolean } = {},
): Promise<HostsBench | undefined> {
  const program = proxy.find();
  if (program === undefined) {
    t.pass(`needs ${name}`, { skip: `${name} is not installed: see test/upstreams/install.sh` });
    return undefined;
  }
  const started = allPlaces.map(
    async (place) => [place, await startRecordingUpstream(undefined, { acceptsWebSockets: true })] as const,
  );
  const services = Object.fromEntries(await Promise.all(started)) as Record<Place, RecordingUpstream>;
  t.teardown(() => Promise.all(Object.values(services).map((service) => service.close())));
  for (const service of Object.values(services))
    service.response = (_, response) => {
      response.writeHead(200, { 'Service-Worker-Allowed': '/', 'X-Of-Service': '1' }).end('served');
    };
  const [port, decisionPort, proxyPort] = [guessPort(), guessPort(), guessPort()];
  const gateway = await startWebGateway(t, {
    listen: { port },
    trusted_proxies: ['127.0.0.1'],
    web: { console: { base_url: `https://${consoleHost}` } },
    cors: { origins: [friend] },
    hosts: Object.entries(entries).map(([place, host]) => `https://${host}${portOf[place as Place]}`),
    upstreams: Object.fromEntries(Object.entries(services).map(([place, { url }]) => [place, { url }])),
    routes: allPlaces.flatMap(routesOf),
    forward_auth: [{ mode: proxy.mode, port: decisionPort, browser }],
  });
  const webCookie = await gateway.signIn();
  const { accessToken } = await gateway.api.signIn(administrator.username, administrator.password);
  const { key } = await gateway.api.mintKey(accessToken, { label: 'reader', scopes: ['store:read'] });
  const { config } = loadConfig(gateway.configFile, process.env);
  const printed = printProxyConfiguration(config!, proxy.printed, { listen: `127.0.0.1:${proxyPort}` });
  const running = runProxy(t, program, proxy, printed, { port: proxyPort, service: services.base.url });
  const send: HostsBench['send'] = async (requestLine, lines) => {
    const connection = await connectRaw(proxyPort);
    const late = setTimeout(() => connection.reset(), 10_000);
    connection.write([requestLine, 'Connection: close', ...lines, '', ''].join('\r\n'));
    const response = await connection.response().catch(() => undefined);
    connection.reset();
    clearTimeout(late);
    return response;
  };
  let ready = 0;
  await eventually(`${name} on port ${proxyPort}`, async () => {
    if (running.hasEnded()) return true;
    const response = await send('GET /open/ready HTTP/1.1', [`Host: ${places.base}`]).catch(() => undefined);
    ready = response?.status ?? 0;
    return ready === 200;
  }).catch(() => {});
  if (ready !== 200) throw new Error(running.output().slice(-3000));
  const takeDelivered = () =>
    Object.entries(services).flatMap(([place, { seen }]) =>
      seen.splice(0).map((each): Delivered => ({ place: place as Place, seen: each })),
    );
  takeDelivered();
  return {
    ...gateway,
    proxyPort,
    services,
    key,
    webCookie,
    send,
    cookieAt: (host) => (host === places.base ? webCookie : hostCookieOf(gateway, webCookie, host)),
    takeDelivered,
    decisions: () => gateway.logLines().filter((line) => 'forward_auth' in line),
    output: running.output,
  };
}
