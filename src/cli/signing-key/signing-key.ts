import { operator } from '../../administration/caller.ts';
import { signingKeyEvents } from '../../administration/signing-key-events.ts';
import type { Config } from '../../config/sections/schema.ts';
import { type PlannedSeries, plannedSeries, timesOf } from '../../credentials/key-times.ts';
import { generateSigningKey } from '../../credentials/signing-keys.ts';
import { endsAt, nextOf, signerOf, turnsAt } from '../../stores/key-schedule.ts';
import {
  isOfSeries,
  type KeyChange,
  type KeySeries,
  type KeyTurnRequest,
  type SigningKey,
  type StoredKeys,
} from '../../stores/signing-keys.ts';
import { type Call, Failure } from '../command.ts';
import { readableTime } from '../present.ts';
import { printResult, table } from '../terminal.ts';
import { type CommandContext, withStores } from '../with-stores.ts';

const purposes: ReadonlySet<string> = new Set(['access-token', 'assertion', 'cookie']);

/** `signing-key list`: every key there is, newest first; never anything private. */
export async function listSigningKeys(call: Call): Promise<void> {
  await withStores(call, async ({ records, config }) => {
    const stored = await records.signingKeys();
    const shown = stored.keys.map((key) => present(key, stored, config));
    const header = ['KID', 'PURPOSE', 'ALGORITHM', 'STATUS', 'PUBLISHED', 'SIGNS FROM', 'UNTIL', 'EXPIRES'];
    const rows = shown.map(({ kid, purpose, algorithm, status, ...times }) => [
      ...[kid, purpose, algorithm, status, readableTime(times.published)],
      ...[times.signs_from, times.signs_until, times.expires].map((time) =>
        time === null ? '' : readableTime(time),
      ),
    ]);
    await printResult(call, shown, rows.length === 0 ? 'There are no keys yet.' : table(header, rows));
  });
}

/** `signing-key rotate`: the next key of each series signs, as soon as it has been published for long enough. */
export async function rotateSigningKeys(call: Call): Promise<void> {
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
    for (const planned of wanted) results.push(await rotate(context, planned));
    const lines = results.map(({ purpose, algorithm, kid, signs_from, signs_now }) => {
      const when = signs_now ? 'signs now' : `signs from ${readableTime(signs_from)}`;
      return `${purpose} ${algorithm}: ${kid} ${when}`;
    });
    await printResult(call, results, lines.join('\n'));
  });
}

async function rotate(context: CommandContext, { series, times }: PlannedSeries) {
  const { keys, time } = await turn(context, { series, times, isRequested: true });
  const ours = keys.filter((key) => isOfSeries(key, series));
  const next = nextOf(ours);
  const key = next ?? signerOf(ours)!;
  return {
    ...series,
    kid: key.kid,
    signs_from: rfc3339(next === undefined ? key.signsFrom! : turnsAt(ours, times, time)),
    signs_now: next === undefined,
  };
}

/** `signing-key revoke KID`: what it has signed is refused, and the next key signs at once. */
export async function revokeSigningKey(call: Call): Promise<void> {
  const [kid] = call.operands as readonly [string];
  await withStores(call, async (context) => {
    const found = (await context.records.signingKeys()).keys.find((key) => key.kid === kid);
    const missing = new Failure('failed', `no signing key with kid ${JSON.stringify(kid)}`);
    if (found === undefined) throw missing;
    const { purpose, algorithm } = found;
    const series: KeySeries = { purpose, algorithm };
    const times = timesOf(series, context.config);
    const { keys, revoked } = await turn(context, { series, times, revoke: kid });
    if (revoked === null) throw missing;
    const signer = signerOf(keys.filter((key) => isOfSeries(key, series)));
    const text = signer === undefined ? 'Nothing signs in its place.' : `${signer.kid} signs now.`;
    await printResult(call, { revoked, signs_now: signer?.kid ?? null }, text);
  });
}

async function turn(
  { records, audit }: CommandContext,
  wanted: Omit<KeyTurnRequest, 'candidate'>,
): Promise<KeyChange> {
  const candidate = await generateSigningKey(wanted.series);
  return records.turnSigningKeys({ ...wanted, candidate }, audit.withChange(operator, signingKeyEvents));
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
    published: rfc3339(created),
    signs_from: isNext ? instant(turns) : signsFrom === null ? null : rfc3339(signsFrom),
    signs_until: isNext ? null : instant(retired ?? turns),
    expires: instant(endsAt(key)),
  };
}

function instant(at: number): string | null {
  return Number.isFinite(at) ? rfc3339(at) : null;
}

function rfc3339(at: number): string {
  return new Date(at).toISOString();
}
