import { type DestinationStream, type Logger, pino } from 'pino';
import { type AccessEntry, accessLine } from './access-line.ts';
import type { AuditChanges, AuditEventName, AuditTarget } from './audit-events.ts';
import { createLineWriter, type LineWriter } from './line-writer.ts';
import { readableLine } from './readable-line.ts';

/** Who did something, and by which credential. */
export interface Actor {
  /**
   * Id of the user; null if no user of this store acted, or it is unknown which. With kind `anonymous`: the user to whom
   * the presented credential was issued, although anyone may have presented it.
   */
  readonly user: string | null;
  /** Id of the presented session or API key. */
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

/** A caller without a credential that could be checked. */
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

/** Something that changes or probes access. */
export interface AuditEntry {
  /** As in the records; absent if only the log has it. */
  readonly id?: string;
  /** When it happened, epoch ms; default: now. */
  readonly time?: number;
  readonly event: AuditEventName;
  readonly outcome: 'success' | 'failure';
  readonly actor: Actor;
  /** Id of the user it is about; null if there is none. */
  readonly subject: string | null;
  readonly session?: string;
  readonly key?: string;
  /** Name of the identity provider of a sign-in. */
  readonly provider?: string;
  /** What was changed; absent if only the access of `subject` was. */
  readonly target?: AuditTarget | null;
  readonly changes?: AuditChanges | null;
  /** The `sub` of a refused user at the provider, proven by it, if no user is linked: the argument for `user link`. */
  readonly providerSubject?: string;
  /** Why it failed, in our own words. */
  readonly reason?: string;
  readonly address: string | null;
  /** The beginning of `User-Agent`. */
  readonly userAgent?: string;
  readonly requestId: string | null;
  /** How often it happened, if one entry represents several events; instants in epoch ms. */
  readonly repeated?: { readonly count: number; readonly first: number; readonly last: number };
}

/** What is logged, and how. */
export interface LogSettings {
  /** The lowest level that is written. */
  readonly level: string;
  /** `auto`: readable on a terminal, JSON elsewhere; default `json`. */
  readonly format?: 'auto' | 'json' | 'text';
}

/** The process log: JSON lines with `time` in RFC 3339, or readable ones. */
export interface Log {
  access(entry: AccessEntry): void;
  /** Written whatever the level. */
  audit(entry: AuditEntry): void;
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
  configure(settings: LogSettings): void;
  /** Writes what is buffered, synchronously, for at most a second; for an unexpected exit. */
  flush(): void;
  /** Resolves once what is buffered has been written, or after a second: a stalled reader must not delay the exit. */
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

/**
 * Opens the log on a file descriptor or a file; default: standard output. A line is written at most 100 ms later, under
 * load many at once.
 */
export function createLog(
  settings: LogSettings & {
    readonly destination?: number | string;
    /** In place of a destination: a writer that others write to, too. */
    readonly writer?: LineWriter;
    readonly isTerminal?: boolean;
  },
): Log {
  const writer = settings.writer ?? createLineWriter(settings.destination ?? 1);
  return createLogOn(writer, settings, {
    isTerminal: settings.isTerminal,
    flush: () => writer.flush(),
    written: () => writer.written(),
  });
}

/** The same log on any stream of lines. */
export function createLogOn(
  stream: DestinationStream,
  settings: LogSettings,
  {
    isTerminal = false,
    flush = () => {},
    written = async () => {},
  }: {
    readonly isTerminal?: boolean;
    readonly flush?: () => void;
    readonly written?: () => Promise<void>;
  } = {},
): Log {
  let isReadable = readsAsText(settings, isTerminal);
  const colours = isTerminal && !process.env.NO_COLOR;
  const destination: DestinationStream = {
    write: (line) => stream.write(isReadable ? readableLine(line, { colours }) : line),
  };
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
    destination,
  );
  const clock = createClockText();
  return {
    access(entry) {
      if (logger.isLevelEnabled('info')) destination.write(accessLine(entry, clock(Date.now())));
    },
    audit(entry) {
      destination.write(auditLine(entry));
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
        void written().then(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
    flush,
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
  return `${JSON.stringify(line)}\n`;
}

/** By number: three digits. */
const threeDigits = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'));

/** RFC 3339 text of an instant; only that of a second takes a calendar, and each second's is made once. */
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
