import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { TestScope } from '../../support/gateway/gateway.ts';
import { makeCertificate } from '../../support/servers/certificates.ts';
import { nodeAddress } from '../node/addresses.ts';
import { get } from './commands.ts';

/** Where a host's requests go, and the certificate that its clients see. */
interface Site {
  readonly service: Service;
  readonly context: SecureContext | undefined;
}

interface Service {
  readonly host: string;
  readonly port: number;
}

/**
 * Ends TLS at the node's address for a name, as an ingress controller does, and passes requests on to the address of a
 * Service. Gives the file of the authority that clients have to know.
 */
export async function startIngress(t: TestScope, folder: string, name: string, to: string): Promise<string> {
  const certificate = makeCertificate(folder, 'ingress', [`DNS:${name}`]);
  await listen(t, { cert: certificate.cert, key: certificate.key }, () => ({ host: to, port: 80 }));
  return certificate.certFile;
}

/**
 * The same by the Ingress objects that a namespace has now: their hosts, of which one with a wildcard is for one label,
 * their Services and the Secrets with their certificates. A host without a certificate can't be connected to, and one
 * without a rule is 404.
 */
export async function startIngressController(t: TestScope, namespace: string): Promise<void> {
  const sites = await sitesOf(namespace);
  const find = (name: string) => sites.get(name) ?? sites.get(name.replace(/^[^.]+/, '*'));
  const options: ServerOptions = {
    SNICallback(name, done) {
      const context = find(name)?.context;
      done(context === undefined ? new Error(`no certificate for ${name}`) : null, context);
    },
  };
  await listen(t, options, (name) => find(name)?.service);
}

async function sitesOf(namespace: string): Promise<Map<string, Site>> {
  const sites = new Map<string, Site>();
  const { items } = await get('ingress', '--namespace', namespace);
  for (const { spec } of items)
    for (const { host, http } of spec.rules) {
      const { name, port } = http.paths[0].backend.service;
      const { spec: service } = await get('service', name, '--namespace', namespace);
      const { port: number } = service.ports.find((one: any) => one.name === port.name);
      const tls = spec.tls?.find(({ hosts }: any) => hosts.includes(host));
      const context = tls && (await contextOf(namespace, tls.secretName));
      sites.set(host, { service: { host: service.clusterIP, port: number }, context });
    }
  return sites;
}

async function contextOf(namespace: string, secret: string): Promise<SecureContext> {
  const { data } = await get('secret', secret, '--namespace', namespace);
  const [cert, key] = ['tls.crt', 'tls.key'].map((name) => Buffer.from(data[name], 'base64'));
  return createSecureContext({ cert, key });
}

async function listen(
  t: TestScope,
  options: ServerOptions,
  find: (name: string) => Service | undefined,
): Promise<void> {
  const server = createServer(options, (incoming, response) => {
    const service = find((incoming.headers.host ?? '').replace(/:\d+$/, ''));
    if (service === undefined) response.writeHead(404).end();
    else passOn(incoming, response, service);
  });
  await new Promise<void>((resolve) => server.listen(443, nodeAddress, resolve));
  t.teardown(() => void server.close().closeAllConnections());
}

function passOn(incoming: IncomingMessage, response: ServerResponse, to: Service): void {
  const { method, url, headers } = incoming;
  const own = {
    'x-forwarded-for': incoming.socket.remoteAddress,
    'x-forwarded-host': headers.host,
    'x-forwarded-proto': 'https',
  };
  const sent = request({ ...to, method, path: url, headers: { ...headers, ...own }, agent: false });
  sent.on('error', () => response.writeHead(502).end());
  sent.on('response', (got) => got.pipe(response.writeHead(got.statusCode!, got.headers)));
  incoming.pipe(sent);
}
