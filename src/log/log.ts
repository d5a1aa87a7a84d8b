import { type DestinationStream, type Logger, pino } from 'pino';
import { type AccessEntry, accessLine } from './access-line.ts';
import type { AuditChanges, AuditEventName, AuditTarget } from './audit-events.ts';
import { escapeJson, jsonText } from './json-text.ts';
import { KnownNames } from './known-names.ts';
import { createLineWriter, type LineWriter } from './line-writer.ts';
import { readableLine } from './readable-line.ts';

/** Who did something, and by which credential. */
export interface Actor {
  /**
   * Id of the user; null if no user of this store acted, or the user is unknown. With kind `anonymous`: the user to whom the
   * presented credential was issued, although anyone may have presented it.
   */
  readonly user: string | null;
  readonly session?: string;
  readonly key?: string;
  readonly kind:
    | 'session'
    | 'api_key'
    | 'command_line'
    | 'configuration'
    | 'provider'
    | 'system'
    | 'anonymous';
}

/** A caller without a verifiable credential. */
export const anonymous: Actor = Object.freeze({ user: null, kind: 'anonymous' });
/** Postern itself. */
export const system: Actor = Object.freeze({ user: null, kind: 'system' });
/** An operator who runs commands with access to the stores. */
export const commandLine: Actor = Object.freeze({ user: null, kind: 'command_line' });
/** The configuration, whose users and scope sets are applied to the records. */
export const configuration: Actor = Object.freeze({ user: null, kind: 'configuration' });

/** A user acting through a session. */
export function actorOfSession(user: string, session: string): Actor {
  return { user, session, kind: 'session' };
}

/** An event that changes or probes access. */
export interface AuditEntry {
  /** Id of the event in the records; absent if only the log has the event. */
  readonly id?: string;
  /** Instant of the event, epoch ms; default: now. */
  readonly time?: number;
  readonly event: AuditEventName;
  readonly outcome: 'success' | 'failure';
  readonly actor: Actor;
  /** Id of the user concerned; null if there is none. */
  readonly subject: string | null;
  readonly session?: string;
  readonly key?: string;
  readonly provider?: string;
  /** Object of the change; absent if only the access of `subject` was changed. */
  readonly target?: AuditTarget | null;
  readonly changes?: AuditChanges | null;
  /** The verified `sub` of a refused sign-in without a linked user: the argument of `user link`. */
  readonly providerSubject?: string;
  /** Reason of a failure, in our own words. */
  readonly reason?: string;
  /** Names of users in the event by their ids, for readable lines; JSON lines and the records have ids alone. */
  readonly names?: Readonly<Record<string, string>>;
  readonly address: string | null;
  /** The beginning of `User-Agent`. */
  readonly userAgent?: string;
  readonly requestId: string | null;
  /** The number of events that the entry represents, and the instants of the first and the last, epoch ms. */
  readonly repeated?: { readonly count: number; readonly first: number; readonly last: number };
}

/** Settings of the log. */
export interface LogSettings {
  readonly level: string;
  /** `auto`: readable on a terminal, JSON elsewhere; default `json`. */
  readonly format?: 'auto' | 'json' | 'text';
}

/** The process log: JSON lines with `time` in RFC 3339, or readable ones. */
export interface Log {
  access(entry: AccessEntry): void;
  /** Writes an audit entry, whatever the level of the log. */
  audit(entry: AuditEntry): void;
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
  configure(settings: LogSettings): void;
  /** Writes buffered lines synchronously, for at most a second; for an unexpected exit. */
  flush(): void;
  /** Resolves once buffered lines are written, or after a second: a stalled reader must not delay the exit. */
  close(): Promise<void>;
}

/** Field names whose values are never logged, at the two depths at which fields are logged. */
const secretFields = [
  'authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'password',
  'token',
  'key_material',
  'client_secret',
  'secret',
];

const maxCloseMs = 1_000;

/** Opens the log on a descriptor or file; default: standard output. Lines are written within 100 ms, many at once under load. */
export function createLog(
  settings: LogSettings & {
    readonly destination?: number | string;
    /** A shared writer in place of a destination. */
    readonly writer?: LineWriter;
    readonly isTerminal?: boolean;
  },
): Log {
  const { destination = 1, writer = createLineWriter(destination), isTerminal } = settings;
  return createLogOn(writer, settings, { isTerminal });
}

/** Creates the same log on any stream of lines. */
export function createLogOn(
  stream: DestinationStream & Partial<Pick<LineWriter, 'flush' | 'written'>>,
  settings: LogSettings,
  { isTerminal = false }: { readonly isTerminal?: boolean } = {},
): Log {
  let isReadable = readsAsText(settings, isTerminal);
  const colours = isTerminal && !process.env.NO_COLOR;
  const write = (line: string) => stream.write(isReadable ? readableLine(line, { colours }) : line);
  const logger: Logger = pino(
    {
      level: settings.level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: secretFields.flatMap((name) => [`["${name}"]`, `*["${name}"]`]),
        censor: '[redacted]',
      },
    },
    { write: (line) => write(escapeJson(line)) },
  );
  const clock = createClockText();
  const names = new KnownNames();
  return {
    access(entry) {
      if (!logger.isLevelEnabled('info')) return;
      const { removed } = entry;
      const isListed = removed !== undefined && removed.length > 0 && logger.isLevelEnabled('debug');
      write(accessLine(entry, clock(Date.now()), isListed ? removed : undefined));
    },
    audit(entry) {
      if (!isReadable) return void stream.write(auditLine(entry));
      names.learn(entry.names);
      stream.write(readableLine(auditLine(entry), { colours, names }));
    },
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
    configure(next) {
      logger.level = next.level;
      isReadable = readsAsText(next, isTerminal);
    },
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, maxCloseMs);
        void Promise.resolve(stream.written?.()).then(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
    flush: () => stream.flush?.(),
  };
}

function readsAsText({ format = 'json' }: LogSettings, isTerminal: boolean): boolean {
  return format === 'text' || (format === 'auto' && isTerminal);
}

function auditLine(entry: AuditEntry): string {
  const { event, outcome, actor, subject, session, key, provider, providerSubject } = entry;
  const { id, target, changes, reason, address, userAgent, requestId, repeated } = entry;
  const time = new Date(entry.time ?? Date.now()).toISOString();
  const line = {
    level: 'info',
    time,
    audit: true,
    id,
    event,
    outcome,
    actor,
    subject,
    session,
    key,
    provider,
    provider_subject: providerSubject,
    target: target ?? undefined,
    changes: changes ?? undefined,
    reason,
    address,
    user_agent: userAgent,
    request_id: requestId,
    ...(repeated !== undefined && {
      count: repeated.count,
      first: new Date(repeated.first).toISOString(),
      last: new Date(repeated.last).toISOString(),
    }),
  };
  return `${jsonText(line)}\n`;
}

/** Each number below 1,000, in three digits. */
const threeDigits = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'));

/** Creates a formatter of instants (RFC 3339) that computes the calendar once a second. */
function createClockText(): (now: number) => string {
  let lastSecond = -1;
  let untilSecond = '';
  return (now) => {
    const second = Math.floor(now / 1_000);
    if (second !== lastSecond) {
      lastSecond = second;
      untilSecond = new Date(now).toISOString().slice(0, -'000Z'.length);
    }
    return `${untilSecond}${threeDigits[now - second * 1_000]}Z`;
  };
}
