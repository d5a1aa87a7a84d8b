import { createHash } from 'node:crypto';
import type { RecordsChange } from '../remote/change-feed.ts';

/** SQL condition, true if the server accepts no writes, and so is unusable, however well it responds. */
export const isReadOnly = "pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean";

/** A change as it is logged and notified: the version it leads to, and its {@link formatHints hints}. */
export interface HintedChange {
  readonly version: number;
  readonly hints: string;
}

/** Maximum size of the hints in a notification, for which PostgreSQL allows less than 8000 bytes. */
const maxNotifiedBytes = 7_000;
/** Maximum size of the hints in the log: more ids than any process caches. */
const maxKeptBytes = 1_000_000;
const maxChannelBytes = 63;
const everything = '*';
const commandEvents = 'command-events';
const signingKeys = 'signing-keys';

/** The channel on which changes of the store in a schema are notified. */
export function changeChannel(schema: string): string {
  const channel = `postern:${schema}`;
  if (channel.length <= maxChannelBytes) return channel;
  return `postern:${createHash('sha256').update(schema).digest('hex').slice(0, 48)}`;
}

/**
 * The hints of changes: `user:ID`, `key:ID` and `new-key:ID`, separated by spaces, or `*` for anything. The hint for a change
 * of a user, or of the user's identities, is the user, which stands for the user's keys, too; the removal of a user also has the
 * keys that are deleted or transferred with it, and a change of a scope set all its holders. Audit lines for a gateway to log
 * add `command-events`, and a change of signing keys `signing-keys`.
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

/** The hints for a notification: all, or `*` if they don't fit. */
export function notifiedHints(hints: string): string {
  return shortened(hints, maxNotifiedBytes);
}

/** Parses the result of {@link formatHints}; null: anything may have changed. */
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

/** Parses a notification: the version, a space, and hints. Undefined when it is anything else. */
export function parseNotification(payload: string): HintedChange | undefined {
  const parts = /^(\d{1,15}) (\S.*)$/.exec(payload);
  return parts === null ? undefined : { version: Number(parts[1]), hints: parts[2]! };
}

function shortened(hints: string, maxBytes: number): string {
  return Buffer.byteLength(hints) <= maxBytes ? hints : everything;
}
