import { formatDuration } from '../values/durations-and-sizes.ts';
import type { Rule } from './rule.ts';

const accessKeys = ['sessions_username', 'sessions_password'] as const;

const postgresKeys = ['records_password', 'records_connections', 'records_statement_timeout'] as const;

/** A file would silently ignore settings that only a server has. */
const recordsAccess: Rule = ({ stores }, { report, isWritten }) => {
  if (stores?.records?.kind !== 'sqlite') return;
  for (const key of postgresKeys)
    if (isWritten(['stores', key])) report(['stores', key], 'requires a postgres:// records store', 'key');
};

/** A store without users would silently ignore credentials. */
const sessionsAccess: Rule = ({ stores }, { report, isWritten }) => {
  const kind = stores?.sessions?.kind;
  if (kind === undefined) return;
  if (kind === 'sqlite')
    for (const key of accessKeys)
      if (isWritten(['stores', key])) report(['stores', key], 'requires a session store in Redis', 'key');
  if (kind !== 'sentinel' && isWritten(['stores', 'sessions_sentinel_password']))
    report(['stores', 'sessions_sentinel_password'], 'requires a redis+sentinel:// session store', 'key');
};

/** What is encrypted names its key by the id. */
const encryptionKeysDiffer: Rule = ({ stores }, { report }) => {
  const keys = stores?.records_encryption?.keys ?? [];
  for (const [index, key] of keys.entries()) {
    if (key?.id !== undefined && keys.slice(0, index).some((earlier) => earlier?.id === key.id))
      report(['stores', 'records_encryption', 'keys', index, 'id'], 'is the id of an earlier key');
  }
};

/** A session that is accepted unchecked for that long can't be refused any sooner while the store is unavailable. */
const staleCoversLiveness: Rule = ({ sessions, stores }, { report, isWritten }) => {
  const stale = sessions?.stale_if_error;
  const liveness = stores?.sessions_liveness_age;
  if (stale === undefined || liveness === undefined || stale >= liveness) return;
  if (isWritten(['sessions', 'stale_if_error']))
    report(
      ['sessions', 'stale_if_error'],
      `must be at least stores.sessions_liveness_age, ${formatDuration(liveness)}`,
    );
  else
    report(
      ['stores', 'sessions_liveness_age'],
      `must be at most sessions.stale_if_error, ${formatDuration(stale)}`,
    );
};

/** Rules for keys that only one kind of store has. */
export const storeRules: readonly Rule[] = [
  recordsAccess,
  sessionsAccess,
  staleCoversLiveness,
  encryptionKeysDiffer,
];
