import { formatDuration } from '../values/durations-and-sizes.ts';
import type { RecordsAddress, SessionsAddress } from '../values/store-addresses.ts';
import type { Rule } from './rule.ts';

/** The store, in words, that each of these keys requires. */
const requirements = {
  records_password: 'a postgres:// records store',
  records_connections: 'a postgres:// records store',
  records_statement_timeout: 'a postgres:// records store',
  sessions_username: 'a session store in Redis',
  sessions_password: 'a session store in Redis',
  sessions_sentinel_password: 'a redis+sentinel:// session store',
} as const;
type Key = keyof typeof requirements;

const access: readonly Key[] = ['sessions_username', 'sessions_password'];
const keysOfKind: Readonly<Record<(RecordsAddress | SessionsAddress)['kind'], readonly Key[]>> = {
  sqlite: [],
  postgres: ['records_password', 'records_connections', 'records_statement_timeout'],
  server: access,
  socket: access,
  cluster: access,
  sentinel: [...access, 'sessions_sentinel_password'],
};

/** Rejects settings of another kind of store, which would silently be ignored. */
const ownKeysOnly: Rule = ({ stores }, { report, isWritten }) => {
  for (const key of Object.keys(requirements) as Key[]) {
    const kind = stores?.[key.startsWith('records') ? 'records' : 'sessions']?.kind;
    if (kind !== undefined && !keysOfKind[kind].includes(key) && isWritten(['stores', key]))
      report(['stores', key], `requires ${requirements[key]}`, 'key');
  }
};

/** Rejects two encryption keys with the same id: a ciphertext names its key by the id. */
const encryptionKeysDiffer: Rule = ({ stores }, { report }) => {
  const keys = stores?.records_encryption?.keys ?? [];
  for (const [index, key] of keys.entries()) {
    if (key?.id !== undefined && keys.slice(0, index).some((earlier) => earlier?.id === key.id))
      report(['stores', 'records_encryption', 'keys', index, 'id'], 'is the id of an earlier key');
  }
};

/** Rejects a `stale_if_error` below `sessions_liveness_age`: for that long, sessions are accepted from a cache anyway. */
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

/** Rules for the keys of `stores` that depend on other keys. */
export const storeRules: readonly Rule[] = [ownKeysOnly, staleCoversLiveness, encryptionKeysDiffer];
