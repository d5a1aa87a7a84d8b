import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { nodeAddress } from './addresses.ts';
import type { Api } from './api.ts';

const addressType = 1;
const notFound = 3;

/** Answers for Services: addresses of IPv4, over UDP and TCP. */
export function serveNames(api: Api): void {
  const services = api.watch('/api/v1/services', () => {});
  const slices = api.watch('/apis/discovery.k8s.io/v1/endpointslices', () => {});
  const respond = (query: Buffer) =>
    responseTo(query, (name) => addressesOf(name, services.items(), slices.items()));

  const udp = createSocket('udp4');
  udp.on('message', (query, { port, address }) => udp.send(respond(query), port, address));
  udp.on('error', () => {});
  udp.bind(53, nodeAddress);
  const tcp = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      const response = respond(data.subarray(2));
      const length = Buffer.alloc(2);
      length.writeUInt16BE(response.length);
      socket.end(Buffer.concat([length, response]));
    });
  });
  tcp.listen(53, nodeAddress);
}

/** Undefined if there is no such name. */
function addressesOf(name: string, services: any[], slices: any[]): string[] | undefined {
  for (const { metadata, spec } of services) {
    const suffix = `${metadata.name}.${metadata.namespace}.svc.cluster.local`;
    if (name !== suffix && !name.endsWith(`.${suffix}`)) continue;
    if (spec.clusterIP !== 'None') return name === suffix ? [spec.clusterIP] : undefined;
    const hostname = name.slice(0, -suffix.length - 1);
    const endpoints = slices
      .filter((slice) => slice.metadata.namespace === metadata.namespace)
      .filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === metadata.name)
      .flatMap((slice) => slice.endpoints ?? [])
      .filter((endpoint) => endpoint.conditions?.ready !== false)
      .filter((endpoint) => hostname === '' || endpoint.hostname === hostname);
    return endpoints.flatMap((endpoint) => endpoint.addresses);
  }
  return undefined;
}

/** To the first question of a query (RFC 1035 §4). */
function responseTo(query: Buffer, find: (name: string) => string[] | undefined): Buffer {
  const labels: string[] = [];
  let at = 12;
  while (query[at]! > 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    at += 1 + query[at]!;
  }
  const type = query.readUInt16BE(at + 1);
  const found = find(labels.join('.').toLowerCase());
  const addresses = type === addressType ? (found ?? []) : [];

  const head = Buffer.alloc(12);
  head.writeUInt16BE(query.readUInt16BE(0), 0);
  // A response of an authority, and recursion as if it were available.
  head.writeUInt16BE(0x8580 | (found === undefined ? notFound : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, addressType, 0, 1, 0, 0, 0, 5, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, query.subarray(12, at + 5), ...records]);
}
