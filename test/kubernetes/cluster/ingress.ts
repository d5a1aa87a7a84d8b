import { request } from 'node:http';
import { createServer } from 'node:https';
import type { TestScope } from '../../support/gateway/gateway.ts';
import { makeCertificate } from '../../support/servers/certificates.ts';
import { nodeAddress } from '../node/addresses.ts';

/**
 * Ends TLS at the node's address for a name, as an ingress controller does, and passes requests on to the address of a
 * Service. Gives the file of the authority that clients have to know.
 */
export async function startIngress(t: TestScope, folder: string, name: string, to: string): Promise<string> {
  const certificate = makeCertificate(folder, 'ingress', [`DNS:${name}`]);
  const server = createServer({ cert: certificate.cert, key: certificate.key }, (incoming, response) => {
    const { method, url, headers } = incoming;
    const own = { 'x-forwarded-for': incoming.socket.remoteAddress, 'x-forwarded-proto': 'https' };
    const sent = request({ host: to, method, path: url, headers: { ...headers, ...own }, agent: false });
    sent.on('error', () => response.writeHead(502).end());
    sent.on('response', (got) => got.pipe(response.writeHead(got.statusCode!, got.headers)));
    incoming.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(443, nodeAddress, resolve));
  t.teardown(() => void server.close().closeAllConnections());
  return certificate.certFile;
}
