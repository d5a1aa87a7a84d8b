import { scryptSync } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { administrator, startTestGateway, type TestGateway, type TestScope } from '../gateway/gateway.ts';
import { makeCertificate } from '../servers/certificates.ts';
import { onFreePort } from '../servers/free-port.ts';
import { startWebSocketUpstream } from '../servers/web-sockets.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import { respondWithPage } from './browser-site.ts';

/** Names of a site with many hosts, which Chromium finds on this machine. */
const names = {
  signIn: 'signin.acme.localhost',
  /** The same site as `signIn` to browsers, but another origin. */
  wiki: 'wiki.acme.localhost',
  /** Another site to browsers. */
  shop: 'shop.localhost',
  /** Under the wildcard. */
  preview: 'one.preview.localhost',
  otherPreview: 'two.preview.localhost',
  console: 'console.acme.localhost',
} as const;

/** A gateway with many hosts as a browser reaches it. */
export interface HostsSite extends TestGateway {
  /** Origins of the hosts. */
  readonly at: Readonly<Record<keyof typeof names, string>>;
  /** Serves by another configuration from now on; `config` is added to that of the start. */
  configure(config: object): Promise<void>;
}

/** Starts it; services have the pages of `browser-site.ts`, `/open` without a sign-in, `/strict` under `form-action 'self'`. */
export async function startHostsSite(
  t: TestScope,
  { scheme, config = {} }: { readonly scheme: 'http' | 'https'; readonly config?: object },
): Promise<HostsSite> {
  const sockets = await startWebSocketUpstream(t);
  let base: object = {};
  let started: TestGateway | undefined;
  let tls: object | undefined;
  if (scheme === 'https') {
    const folder = makeTemporaryFolder('postern-hosts-');
    t.teardown(() => rmSync(folder, { recursive: true }));
    const alternatives = Object.values(names).map((name) => `DNS:${name}`);
    const { certFile: cert, keyFile: key } = makeCertificate(folder, 'localhost', alternatives);
    tls = { cert, key };
  }
  const origins = (port: number) =>
    Object.fromEntries(
      Object.entries(names).map(([key, name]) => [key, `${scheme}://${name}:${port}`]),
    ) as Record<keyof typeof names, string>;
  const port = await onFreePort(async (port) => {
    const at = origins(port);
    base = {
      base_url: at.signIn,
      hosts: [at.wiki, at.shop, at.preview.replace('one.', '*.')],
      listen: { port, ...(tls !== undefined && { tls }) },
      web: { title: 'Acme', home: '/postern/', console: { base_url: at.console } },
      users: {
        [administrator.username]: {
          scope_sets: ['administrator'],
          password_hash: hashOf(administrator.password),
        },
      },
      shutdown: { timeout: '50ms' },
      ...config,
    };
    started = await startTestGateway(t, {
      config: { ...base, ...routesTo('http://127.0.0.1:9', sockets.url) },
    });
  });
  const gateway = started!;
  gateway.upstream.response = respond;
  const routes = routesTo(gateway.upstream.url, sockets.url);
  const configure = (more: object) => gateway.reload({ ...base, ...routes, ...more });
  await configure({});
  return { ...gateway, at: origins(port), configure };
}

function routesTo(app: string, sockets: string): object {
  const ofHost = (host: string) => [
    { host, prefix: '/live', upstream: 'sockets', browser: true },
    { host, prefix: '/open', upstream: 'app', public: true },
    { host, prefix: '/', upstream: 'app', browser: true },
  ];
  return {
    upstreams: { app: { url: app }, sockets: { url: sockets } },
    routes: [
      ...[names.wiki, names.shop, '*.preview.localhost'].flatMap(ofHost),
      { prefix: '/app', upstream: 'app', browser: true },
    ],
  };
}

/** The page that is shown, and the host that the service was told. */
function respond(request: IncomingMessage, response: ServerResponse): void {
  if (!request.url!.startsWith('/strict')) {
    respondWithPage(request, response);
    return;
  }
  response
    .writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': "form-action 'self'" })
    .end(
      '<!doctype html><h1>Strict</h1><form action="/orders"><input name="q" value="tea"><button>Find</button></form>',
    );
}

/** Hash of a password in the PHC string format, at a cost that no test waits for. */
function hashOf(password: string): string {
  const salt = Buffer.from('salt of the tests');
  const encoded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  const digest = scryptSync(password, salt, 32, { N: 2, r: 8, p: 1 });
  return `$scrypt$ln=1,r=8,p=1$${encoded(salt)}$${encoded(digest)}`;
}
