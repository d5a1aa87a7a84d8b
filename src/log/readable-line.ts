import { escapeControls } from './escape-controls.ts';
import { jsonText } from './json-text.ts';
import type { KnownNames } from './known-names.ts';
import { personName } from './person-name.ts';

type Fields = Readonly<Record<string, unknown>>;

/** SGR codes of ECMA-48 §8.3.117. */
const styles = { dim: 2, bold: 1, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
type Style = keyof typeof styles;
type Paint = (style: Style, text: string) => string;

const plain: Paint = (_, text) => text;
const coloured: Paint = (style, text) => `\u001b[${styles[style]}m${text}\u001b[0m`;

/** Options of {@link readableLine}. */
interface LineOptions {
  readonly colours: boolean;
  /** Names of users; default: none is known. */
  readonly names?: Pick<KnownNames, 'of'>;
}

/** Formats a JSON log line for people: local time, the event, then all other fields. */
export function readableLine(line: string, { colours, names = nameless }: LineOptions): string {
  const fields = JSON.parse(line) as Fields;
  const paint = colours ? coloured : plain;
  const { time, level, ...rest } = fields;
  return `${paint('dim', clockTime(String(time)))}  ${describe(String(level), rest, paint, names)}\n`;
}

const nameless = { of: (id: string) => id };

function describe(level: string, fields: Fields, paint: Paint, names: Pick<KnownNames, 'of'>): string {
  if (fields.audit === true) return describeAudit(fields, paint, names);
  return fields.msg === 'request' ? describeRequest(fields, paint) : describeMessage(level, fields, paint);
}

function describeRequest(fields: Fields, paint: Paint): string {
  const { msg, method, path, route, status, duration_ms, outcome, address, request_id, ...rest } = fields;
  const { subject, session, key, bytes_in, bytes_out, upstream, upstream_address, errno, phase, ...others } =
    rest;
  const isGood = outcome === 'ok';
  const { reason, more } = explain(fields.reason, others);
  const code = Number(status);
  const style: Style = !isGood && code < 400 ? 'red' : code >= 500 ? 'red' : code >= 400 ? 'yellow' : 'green';
  const where =
    upstream === undefined
      ? []
      : [`at ${upstream} ${upstream_address} (${phase}${errno ? `, ${errno}` : ''})`];
  const why = isGood ? [] : [String(outcome) + (reason === undefined ? '' : `: ${reason}`), ...where];
  const caller = session === undefined ? (key === undefined ? [] : [`key ${key}`]) : [`session ${session}`];
  // Only failed requests are looked up by their id.
  const about = isGood ? caller : [...caller, `id ${request_id}`];
  return [
    paint(style, code === 0 ? '---' : String(code)),
    `${method} ${text(path === '' ? (route === '' ? '-' : route) : path)}`,
    ...why.map((part) => paint(style, text(part))),
    ...[`${Number(duration_ms).toFixed(1)} ms`, ...about, `from ${address}`, ...pairs(more)].map((part) =>
      paint('dim', text(part)),
    ),
  ].join('  ');
}

/** The reason for people, and the fields that it doesn't contain: a name that isn't `base_url` is told with both. */
function explain(
  reason: unknown,
  { reason: _, origin, base_url, ...more }: Fields,
): { reason: unknown; more: Fields } {
  if (reason === 'another name than base_url')
    return { reason: `origin ${valueText(origin)} is not base_url ${base_url}`, more };
  return { reason, more: { ...more, origin: origin ?? null, base_url: base_url ?? null } };
}

/** Formats an audit event without its id, target, request id and user agent, which the JSON lines and the store have. */
function describeAudit(fields: Fields, paint: Paint, names: Pick<KnownNames, 'of'>): string {
  const { audit, event, outcome, actor, id, subject, target, changes, address, ...rest } = fields;
  const { user_agent, request_id, ...others } = rest;
  const { user } = actor as Fields;
  const about = [
    `by ${authorOf(actor as Fields, event, names)}`,
    ...(subject === user ? [] : subjectOf(subject, names)),
    ...pairs(others),
    ...Object.entries((changes ?? {}) as Fields).flatMap(describeChange),
    ...(address === null ? [] : [`from ${address}`]),
  ];
  return [
    paint('cyan', 'audit'),
    paint(outcome === 'success' ? 'bold' : 'yellow', text(event)),
    ...(outcome === 'success' ? [] : [paint('yellow', text(outcome))]),
    ...about.map((part) => paint('dim', text(part))),
  ].join('  ');
}

/** The author of an event: the user's name if it is known, with what isn't a session; else the kind and the id. */
function authorOf({ kind, user }: Fields, event: unknown, names: Pick<KnownNames, 'of'>): string {
  const what = String(kind).replace('_', ' ');
  // No one else makes a user without a credential: see administration/activation.ts.
  if (typeof user !== 'string')
    return kind === 'anonymous' && event === 'user_created' ? 'bootstrap token' : what;
  const name = names.of(user);
  if (name === user) return `${kind} of ${user}`;
  return kind === 'session' ? personName(name) : `${what} of ${personName(name)}`;
}

function subjectOf(subject: unknown, names: Pick<KnownNames, 'of'>): string[] {
  return typeof subject === 'string' ? [`subject=${personName(names.of(subject))}`] : [];
}

/** `scopes +store:read -store:write`, or the names of fields, whose values are never logged. */
function describeChange([name, change]: [string, unknown]): string[] {
  if (Array.isArray(change)) return [`${name} ${change.join(' ')}`];
  const { added = [], removed = [] } = (change ?? {}) as {
    added?: readonly string[];
    removed?: readonly string[];
  };
  const parts = [...added.map((one) => `+${one}`), ...removed.map((one) => `-${one}`)];
  return parts.length > 0 ? [`${name} ${parts.join(' ')}`] : [];
}

function describeMessage(level: string, fields: Fields, paint: Paint): string {
  const { msg, err, ...rest } = fields;
  const isList = (value: unknown) => Array.isArray(value) && value.length > 0;
  const short = Object.fromEntries(Object.entries(rest).filter(([, value]) => !isList(value)));
  const below = Object.values(rest).filter(isList).flat();
  const style = level === 'error' || level === 'fatal' ? 'red' : level === 'warn' ? 'yellow' : 'dim';
  const about = pairs(short).map((part) => paint('dim', text(part)));
  return [
    [paint(style, level.padEnd(5)), text(msg), ...about].join('  '),
    ...[...below, ...describeError(err)].map((line) => `    ${text(line)}`),
  ].join('\n');
}

/** The stack of an error, or its other logged fields. */
function describeError(err: unknown): string[] {
  if (typeof err !== 'object' || err === null) return err === undefined ? [] : [String(err)];
  const { stack, ...rest } = err as Fields;
  return stack === undefined
    ? pairs(rest)
    : String(stack)
        .split('\n')
        .map((line) => line.trim());
}

/** The remaining fields as `name=value`, without null and empty ones. */
function pairs(fields: Fields): string[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name}=${valueText(value)}`);
}

function valueText(value: unknown): string {
  if (typeof value !== 'string') return jsonText(value);
  return /^[^\s"=]+$/.test(value) ? value : jsonText(value);
}

/** Formats a value so that text from a client or a file can't move the cursor or look like another line. */
function text(value: unknown): string {
  return escapeControls(String(value));
}

function clockTime(time: string): string {
  const date = new Date(time);
  const two = (part: number) => String(part).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
