import { operator } from '../administration/caller.ts';
import { revokeSigningKey, rotateSigningKey } from '../administration/signing-keys.ts';
import { toTimestamp } from '../administration/timestamp.ts';
import type { Config } from '../config/sections/schema.ts';
import { plannedSeries, timesOf } from '../credentials/key-times.ts';
import { jsonText } from '../log/json-text.ts';
import { endsAt, turnsAt } from '../stores/key-schedule.ts';
import { isOfSeries, type SigningKey, type StoredKeys } from '../stores/signing-keys.ts';
import { type Call, Failure } from './command.ts';
import { refusedAs } from './failures.ts';
import { type Column, printTable } from './table.ts';
import { printResult, readableMinute, readableTime } from './terminal.ts';
import { withStores } from './with-stores.ts';

const purposes: ReadonlySet<string> = new Set(['access-token', 'assertion', 'cookie']);

const columns: readonly Column[] = [
  { title: 'KID' },
  { title: 'PURPOSE' },
  { title: 'ALGORITHM', leaves: 1, goesBelow: true },
  { title: 'STATUS' },
  { title: 'PUBLISHED', leaves: 2, goesBelow: true },
  { title: 'SIGNS FROM', leaves: 3, goesBelow: true },
  { title: 'UNTIL', leaves: 4, goesBelow: true },
  { title: 'EXPIRES', leaves: 5, goesBelow: true },
];

/** `signing-key list`: prints all keys, newest first, without anything private. */
export async function listSigningKeys(call: Call): Promise<void> {
  await withStores(call, async ({ records, config }) => {
    const stored = await records.signingKeys();
    const shown = stored.keys.map((key) => present(key, stored, config));
    const rows = shown.map(({ kid, purpose, algorithm, status, ...times }) => [
      ...[kid, purpose, algorithm, status],
      ...[times.published, times.signs_from, times.signs_until, times.expires].map((time) =>
        readableMinute(time, ''),
      ),
    ]);
    await printTable(call, shown, { columns, rows, none: 'There are no keys yet.' });
  });
}

/** `signing-key rotate`: makes the next key of each series sign, as soon as it has been published for long enough. */
export async function rotateKeys(call: Call): Promise<void> {
  const purpose = call.text('purpose');
  if (purpose !== undefined && !purposes.has(purpose))
    throw new Failure('usage', `--purpose must be one of ${[...purposes].join(', ')}`);
  await withStores(call, async (context) => {
    const wanted = plannedSeries(context.config).filter(
      ({ series }) => purpose === undefined || series.purpose === purpose,
    );
    if (wanted.length === 0)
      throw new Failure('failed', `nothing in this configuration signs with keys of purpose ${purpose}`);
    const results = [];
    for (const planned of wanted) {
      const { key, signsLater } = await rotateSigningKey(context, operator, planned);
      results.push({
        ...planned.series,
        kid: key.kid,
        signs_from: toTimestamp(signsLater ?? key.signsFrom!),
        signs_now: signsLater === null,
      });
    }
    const lines = results.map(({ purpose, algorithm, kid, signs_from, signs_now }) => {
      const when = signs_now ? 'signs now' : `signs from ${readableTime(signs_from)}`;
      return `${purpose} ${algorithm}: ${kid} ${when}`;
    });
    await printResult(call, results, lines.join('\n'));
  });
}

/** `signing-key revoke KID`: refuses everything that the key has signed; the next key signs at once. */
export async function refuseSigningKey(call: Call): Promise<void> {
  const [kid] = call.operands as readonly [string];
  await withStores(call, async (context) => {
    const signer = await revokeSigningKey(context, operator, kid, context.config).catch(
      refusedAs('not_found', `no signing key with kid ${jsonText(kid)}: signing-key list shows them`),
    );
    const text = signer === undefined ? 'Nothing signs in its place.' : `${signer.kid} signs now.`;
    await printResult(call, { revoked: kid, signs_now: signer?.kid ?? null }, text);
  });
}

function present(key: SigningKey, { keys, time }: StoredKeys, config: Config) {
  const { kid, purpose, algorithm, created, signsFrom, retired } = key;
  const ours = keys.filter((each) => isOfSeries(each, key));
  const turns = turnsAt(ours, timesOf(key, config), time);
  const isNext = signsFrom === null && retired === null;
  return {
    kid,
    purpose,
    algorithm,
    status: isNext ? 'next' : retired === null ? 'current' : 'previous',
    published: toTimestamp(created),
    signs_from: isNext ? instant(turns) : signsFrom === null ? null : toTimestamp(signsFrom),
    signs_until: isNext ? null : instant(retired ?? turns),
    expires: instant(endsAt(key)),
  };
}

function instant(at: number): string | null {
  return Number.isFinite(at) ? toTimestamp(at) : null;
}
