import type { Path } from './problems.ts';
import type { Report, Rule } from './rule.ts';

function certAndKey(tls: { cert?: unknown; key?: unknown } | undefined, path: Path, report: Report): void {
  if (!tls || 'cert' in tls === 'key' in tls) return;
  const [there, missing] = 'cert' in tls ? ['cert', 'key'] : ['key', 'cert'];
  report([...path, there!], `needs ${missing} beside it`);
}

// A store without TLS would ignore the keys, and whoever wrote them would believe in a protection that is not there.
const storesTls: Rule = ({ stores }, report) => {
  if (!stores) return;
  certAndKey(stores.records_tls, ['stores', 'records_tls'], report);
  certAndKey(stores.sessions_tls, ['stores', 'sessions_tls'], report);
  const records = 'records' in stores ? stores.records : 'sqlite:';
  if ('records_tls' in stores && records?.startsWith('sqlite:'))
    report(['stores', 'records_tls'], 'needs a postgres:// records store', 'key');
  const sessions = 'sessions' in stores ? stores.sessions : 'sqlite:';
  if (
    'sessions_tls' in stores &&
    sessions !== undefined &&
    !/^redis(?:s|\+sentinel|\+cluster):/.test(sessions)
  )
    report(
      ['stores', 'sessions_tls'],
      'needs a rediss://, redis+sentinel:// or redis+cluster:// session store',
      'key',
    );
};

const upstreamsTls: Rule = ({ upstreams }, report) => {
  for (const [name, upstream] of Object.entries(upstreams ?? {})) {
    if (!upstream || !('tls' in upstream)) continue;
    certAndKey(upstream.tls, ['upstreams', name, 'tls'], report);
    if (upstream.url !== undefined && !upstream.url.startsWith('https:'))
      report(['upstreams', name, 'tls'], 'needs an https:// url', 'key');
  }
};

/** TLS only where there is any, and certificates with their keys. */
export const tlsRules: readonly Rule[] = [storesTls, upstreamsTls];
