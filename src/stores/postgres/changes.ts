import { createHash } from 'node:crypto';
import type { RecordsChange } from '../remote/change-feed.ts';

/** SQL: whether a server accepts no writes, and so is unusable, however well it responds. */
export const isReadOnly = "pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean";

/** A change as it is logged and notified: the version it leads to, and its {@link formatHints hints}. */
export interface HintedChange {
  readonly version: number;
  readonly hints: string;
}

/** Limit of a notification, for which PostgreSQL allows less than 8000 bytes. */
const maxNotifiedBytes = 7_000;
/** Limit of a logged change: more ids than any process caches. */
const maxKeptBytes = 1_000_000;
const maxChannelBytes = 63;
const everything = '*';
const commandEvents = 'command-events';
const signingKeys = 'signing-keys';

/** The channel on which changes of the store in that schema are notified. */
export function changeChannel(schema: string): string {
  const channel = `postern:${schema}`;
  if (channel.length <= maxChannelBytes) return channel;
  return `postern:${createHash('sha256').update(schema).digest('hex').slice(0, 48)}`;
}

/**
 * The hints of changes: `user:ID`, `key:ID` and `new-key:ID`, separated by spaces, or `*` for anything. A change of a user, or of
 * an identity of the user, names the user (whose keys show the name, and if the user is disabled); the removal of a user also
 * names the keys deleted or transferred with it, and a change of a scope set all who hold it. Audit lines for the log of a
 * gateway add `command-events`, and a change of keys that sign is `signing-keys`.
 */
export function formatHints(changes: readonly RecordsChange[]): string {
  if (changes.some(({ isEverything }) => isEverything)) return everything;
  const hints = new Set<string>();
  for (const { users, keys, newKeys = [], hasCommandEvents, hasSigningKeys } of changes) {
    if (hasCommandEvents) hints.add(commandEvents);
    if (hasSigningKeys) hints.add(signingKeys);
    for (const id of users) hints.add(`user:${id}`);
    for (const id of keys) hints.add(`key:${id}`);
    for (const id of newKeys) hints.add(`new-key:${id}`);
  }
  const all = [...hints];
  const isUnambiguous = all.every((hint) => !/\s/.test(hint));
  return isUnambiguous ? shortened(all.join(' '), maxKeptBytes) : everything;
}

/** The hints that fit into a notification: all, or `*`. */
export function notifiedHints(hints: string): string {
  return shortened(hints, maxNotifiedBytes);
}

/** Parses what {@link formatHints} gives; null: anything may have been changed. */
export function parseHints(hints: string): RecordsChange | null {
  const users: string[] = [];
  const keys: string[] = [];
  const newKeys: string[] = [];
  let hasCommandEvents = false;
  let hasSigningKeys = false;
  for (const hint of hints.split(' ')) {
    if (hint.startsWith('user:')) users.push(hint.slice('user:'.length));
    else if (hint.startsWith('key:')) keys.push(hint.slice('key:'.length));
    else if (hint === commandEvents) hasCommandEvents = true;
    else if (hint === signingKeys) hasSigningKeys = true;
    else if (hint.startsWith('new-key:')) newKeys.push(hint.slice('new-key:'.length));
    // Everything, or a hint of a later version of this program.
    else return null;
  }
  return {
    users,
    keys,
    newKeys,
    ...(hasCommandEvents && { hasCommandEvents }),
    ...(hasSigningKeys && { hasSigningKeys }),
  };
}

/** Parses a notification: the version, a space, and hints. Undefined when it is not ours. */
export function parseNotification(payload: string): HintedChange | undefined {
  const parts = /^(\d{1,15}) (\S.*)$/.exec(payload);
  return parts === null ? undefined : { version: Number(parts[1]), hints: parts[2]! };
}

function shortened(hints: string, maxBytes: number): string {
  return Buffer.byteLength(hints) <= maxBytes ? hints : everything;
}
