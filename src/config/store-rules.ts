import { parseDuration } from './durations-and-sizes.ts';
import { type Rule, valueOr } from './rule.ts';

const accessKeys = ['sessions_username', 'sessions_password'] as const;

const postgresKeys = ['records_password', 'records_connections', 'records_statement_timeout'] as const;

/** What only a server has would be ignored by a file, and believed in. */
const recordsAccess: Rule = ({ stores }, report) => {
  if (!stores || ('records' in stores && stores.records === undefined)) return;
  const address = 'records' in stores ? (stores.records ?? '') : 'sqlite:';
  if (/^postgres(?:ql)?:/.test(address)) return;
  for (const key of postgresKeys)
    if (key in stores) report(['stores', key], 'needs a postgres:// records store', 'key');
};

/** Who the gateway is to a store that has no users would be ignored, and believed in. */
const sessionsAccess: Rule = ({ stores }, report) => {
  if (!stores || ('sessions' in stores && stores.sessions === undefined)) return;
  const address = 'sessions' in stores ? (stores.sessions ?? '') : 'sqlite:';
  if (!address.startsWith('redis'))
    for (const key of accessKeys)
      if (key in stores) report(['stores', key], 'needs a session store in Redis', 'key');
  if ('sessions_sentinel_password' in stores && !address.startsWith('redis+sentinel:'))
    report(['stores', 'sessions_sentinel_password'], 'needs a redis+sentinel:// session store', 'key');
};

/** A session that counts for that long without a look can't be refused any sooner while the store is away. */
const staleCoversLiveness: Rule = ({ sessions, stores }, report) => {
  const stale = valueOr(sessions, 'stale_if_error', '30s');
  const liveness = valueOr(stores, 'sessions_liveness_age', '5s');
  if (stale === undefined || liveness === undefined || parseDuration(stale) >= parseDuration(liveness))
    return;
  if (sessions?.stale_if_error === undefined)
    report(['stores', 'sessions_liveness_age'], `must be at most sessions.stale_if_error, ${stale}`);
  else report(['sessions', 'stale_if_error'], `must be at least stores.sessions_liveness_age, ${liveness}`);
};

/** Keys that go with one kind of store only with that kind. */
export const storeRules: readonly Rule[] = [recordsAccess, sessionsAccess, staleCoversLiveness];
