import type { Path } from '../report/problems.ts';
import type { SessionsAddress } from '../values/store-addresses.ts';
import type { Rule, RuleContext } from './rule.ts';

function certAndKey(path: Path, { report, isWritten }: RuleContext): void {
  const names = ['cert', 'key'] as const;
  const [there, ...others] = names.filter((name) => isWritten([...path, name]));
  const missing = names.find((name) => name !== there);
  if (there !== undefined && others.length === 0) report([...path, there], `requires ${missing}`);
}

function canHaveTls(address: SessionsAddress): boolean {
  if (address.kind === 'server') return address.tls;
  return address.kind === 'sentinel' || address.kind === 'cluster';
}

// A store without TLS would ignore the settings, which would suggest a protection that isn't there.
const storesTls: Rule = ({ stores }, context) => {
  const { report, isWritten } = context;
  certAndKey(['stores', 'records_tls'], context);
  certAndKey(['stores', 'sessions_tls'], context);
  if (stores?.records?.kind === 'sqlite' && isWritten(['stores', 'records_tls']))
    report(['stores', 'records_tls'], 'requires a postgres:// records store', 'key');
  if (stores?.sessions && !canHaveTls(stores.sessions) && isWritten(['stores', 'sessions_tls']))
    report(
      ['stores', 'sessions_tls'],
      'requires a rediss://, redis+sentinel:// or redis+cluster:// session store',
      'key',
    );
};

const upstreamsTls: Rule = ({ upstreams = {} }, context) => {
  for (const [name, upstream] of Object.entries(upstreams)) {
    const path = ['upstreams', name, 'tls'];
    if (!context.isWritten(path)) continue;
    certAndKey(path, context);
    const address = upstream?.url;
    if (address !== undefined && !(address.kind === 'server' && address.tls))
      context.report(path, 'requires an https:// url', 'key');
  }
};

// Without authorities there is nothing to verify a certificate by.
const clientCertificates: Rule = ({ forward_auth = [] }, { report, isWritten }) => {
  const listeners: Path[] = [['listen'], ...forward_auth.map((_, index) => ['forward_auth', index])];
  for (const listener of listeners) {
    const path = [...listener, 'tls', 'client_certificate'];
    if (isWritten(path) && !isWritten([...listener, 'tls', 'client_ca'])) report(path, 'requires client_ca');
  }
};

/** Rules for TLS settings: they require an address with TLS, certificates their keys, and `client_certificate` a `client_ca`. */
export const tlsRules: readonly Rule[] = [storesTls, upstreamsTls, clientCertificates];
