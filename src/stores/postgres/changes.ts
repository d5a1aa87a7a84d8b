import { createHash } from 'node:crypto';
import type { RecordsChange } from '../change-feed.ts';

/** Reads the version, a count of all changes: `version`. */
export const selectVersion = 'SELECT version FROM store_state WHERE id = 1';

/** Whether a server takes no writes, and so is of no use, however well it answers. */
export const isReadOnly = "pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean";

/**
 * Reads the version with what tells this server, as long as it runs, from all others, and with {@link isReadOnly}:
 * `version`, `server` and `isReadOnly`.
 */
export const selectPlace = `SELECT version, pg_postmaster_start_time()::text AS server,
  ${isReadOnly} AS "isReadOnly" FROM store_state WHERE id = 1`;

/** A change as it is notified: the version it leads to, and what it is about; null: too much to name. */
export interface NotifiedChange {
  readonly version: number;
  readonly change: RecordsChange | null;
}

/** PostgreSQL takes less than 8000 bytes. */
const maxHintBytes = 7_000;
const maxChannelBytes = 63;
const everything = '*';

/** The channel on which changes of the store in that schema are told. */
export function changeChannel(schema: string): string {
  const channel = `postern:${schema}`;
  if (channel.length <= maxChannelBytes) return channel;
  return `postern:${createHash('sha256').update(schema).digest('hex').slice(0, 48)}`;
}

/**
 * What is told of changes after the version: `user:ID` and `key:ID`, separated by spaces, or `*` for anything. By write:
 * `createUser`, `activate`, `updateUser`, `acceptIdentity`, `linkIdentity` and `unlinkIdentity` tell the user (whose keys
 * show its name and whether it is disabled), `removeUser` also the keys deleted with it, `createApiKey` and
 * `deleteApiKey` the keys.
 */
export function formatHints(changes: readonly RecordsChange[]): string {
  const users = changes.flatMap((change) => change.users.map((id) => `user:${id}`));
  const keys = changes.flatMap((change) => change.keys.map((id) => `key:${id}`));
  const hints = [...new Set([...users, ...keys])];
  const text = hints.join(' ');
  const isReadable = hints.every((hint) => !/\s/.test(hint));
  return isReadable && Buffer.byteLength(text) <= maxHintBytes ? text : everything;
}

/** Reads a notification: the version, a space, and what {@link formatHints} gives. Undefined when it is none of ours. */
export function parseChange(payload: string): NotifiedChange | undefined {
  const parts = /^(\d{1,15}) (\S.*)$/.exec(payload);
  if (parts === null) return undefined;
  const users: string[] = [];
  const keys: string[] = [];
  for (const hint of parts[2]!.split(' ')) {
    if (hint.startsWith('user:')) users.push(hint.slice('user:'.length));
    else if (hint.startsWith('key:')) keys.push(hint.slice('key:'.length));
    // Everything, or something that a later version of this program tells.
    else return { version: Number(parts[1]), change: null };
  }
  return { version: Number(parts[1]), change: { users, keys } };
}
