import { stringify } from 'yaml';
import { parseUpstreamAddress, type UpstreamAddress } from '../../config/values/upstream-address.ts';
import { Failure } from '../command.ts';

/**
 * The configuration for a first try in front of a service: it listens on loopback, forwards all paths that aren't Postern's own
 * to the service, for browsers too, and keeps its data under `./data`. Throws Failure `usage` if the URL is no upstream's.
 */
export function tryOutConfiguration(upstreamUrl: string): string {
  const address = parseAddress(upstreamUrl);
  return stringify({
    tenant: 'quickstart',
    base_url: 'http://127.0.0.1:8080',
    listen: { host: '127.0.0.1', port: 8080 },
    management: { host: '127.0.0.1', port: 9090 },
    stores: { records: 'sqlite:data/postern.db', sessions: 'sqlite:data/sessions.db' },
    upstreams: { app: { url: upstreamUrl } },
    routes: [{ prefix: '/', upstream: 'app', browser: true }],
    web: { title: address.kind === 'server' ? address.authority : 'Quick start', home: '/' },
    endpoints: { users: 'own' },
  });
}

function parseAddress(upstreamUrl: string): UpstreamAddress {
  try {
    return parseUpstreamAddress(upstreamUrl);
  } catch (error) {
    throw new Failure('usage', `--upstream ${(error as Error).message}`, error);
  }
}
