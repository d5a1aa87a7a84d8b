import { type DestinationStream, type Logger, pino } from 'pino';
import { createLineWriter } from './line-writer.ts';

/** One finished request, as the access line tells it. Nothing in here may hold a query string or a credential. */
export interface AccessEntry {
  readonly method: string;
  /** The path without the query; empty for a target that was refused as malformed, or before it was judged. */
  readonly path: string;
  /** The configured path of the route, or the pattern of the own endpoint; empty when none was found. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** `ok`, or the code of the refusal, or `client_aborted` and the like. */
  readonly outcome: string;
  readonly subject: string;
  /** `session` or `key`, or empty without a credential. */
  readonly credentialKind: 'session' | 'key' | '';
  readonly credentialId: string;
  readonly requestId: string;
  readonly address: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Why it was refused or failed: a phrase of a fixed table; empty when it wasn't. */
  readonly reason: string;
  /** What the upstream did wrong; null when it did nothing wrong. */
  readonly upstreamFailure: {
    readonly upstream: string;
    readonly address: string;
    readonly errno: string;
    readonly phase: string;
  } | null;
}

/** Who did something, and by which credential. */
export interface Actor {
  /** Id of the user; null where no user of this store acted, or nobody knows which. */
  readonly user: string | null;
  /** Id of the session or API key that was presented. */
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

/** Somebody without a credential that could be judged. */
export const anonymous: Actor = Object.freeze({ user: null, kind: 'anonymous' });
/** Postern itself. */
export const system: Actor = Object.freeze({ user: null, kind: 'system' });
/** Whoever runs commands where the stores can be reached. */
export const commandLine: Actor = Object.freeze({ user: null, kind: 'command_line' });

/** The user of a session, by that session. */
export function actorOfSession(user: string, session: string): Actor {
  return { user, session, kind: 'session' };
}

/** What an audit entry says of a change: what was added and removed of scopes, of everything else only the names. */
export interface AuditChanges {
  readonly fields?: readonly string[];
  readonly scopes?: { readonly added: readonly string[]; readonly removed: readonly string[] };
  /** Ids of sets. */
  readonly scope_sets?: { readonly added: readonly string[]; readonly removed: readonly string[] };
}

/** Something that changes or probes access. */
export interface AuditEntry {
  /** As in the records; left out: only the log has it. */
  readonly id?: string;
  /** When it was, epoch ms; left out: now. */
  readonly time?: number;
  readonly event: string;
  readonly outcome: 'success' | 'failure';
  readonly actor: Actor;
  /** Id of the user it is about; null when there is none. */
  readonly subject: string | null;
  readonly session?: string;
  readonly key?: string;
  /** Name of the identity provider that somebody came from. */
  readonly provider?: string;
  /** What was changed; left out: nothing but the access of `subject`. */
  readonly target?: { readonly type: string; readonly id: string } | null;
  readonly changes?: AuditChanges | null;
  /** Who a refused one is there (`sub`), proven by the provider, where no user is linked: what `user link` wants. */
  readonly providerSubject?: string;
  /** Why it failed, in words of ours. */
  readonly reason?: string;
  readonly address: string | null;
  /** The beginning of `User-Agent`. */
  readonly userAgent?: string;
  readonly requestId: string | null;
  /** How often it happened, where one entry stands for several; instants are epoch ms. */
  readonly repeated?: { readonly count: number; readonly first: number; readonly last: number };
}

/** The process log: JSON lines, `time` in RFC 3339. */
export interface Log {
  access(entry: AccessEntry): void;
  /** Written whatever the level. */
  audit(entry: AuditEntry): void;
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
  setLevel(level: string): void;
  /** Writes out what is buffered, synchronously, for a second at most; for an end that nobody expected. */
  flush(): void;
  /** Resolves when what is buffered has been written, or after a second: a reader who stands still must not keep us. */
  close(): Promise<void>;
}

/** Field names whose values never reach a line, at the two depths that fields are logged at. */
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

const longestCloseMs = 1_000;

/** Opens the log on a file descriptor or a file. A line is written at most 100 ms later, under load many at once. */
export function createLog(options: { readonly level: string; readonly destination?: number | string }): Log {
  const writer = createLineWriter(options.destination ?? 1);
  return createLogOn(
    writer,
    options.level,
    () => writer.flush(),
    () => writer.written(),
  );
}

/** The same log on any stream of lines. */
export function createLogOn(
  destination: DestinationStream,
  level: string,
  flush: () => void = () => {},
  written: () => Promise<void> = async () => {},
): Log {
  const logger: Logger = pino(
    {
      level,
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
    setLevel(next) {
      logger.level = next;
    },
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, longestCloseMs);
        void written().then(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
    flush,
  };
}

/** The line of one request, put together from strings: this is written once a request and must cost little. */
function accessLine(entry: AccessEntry, time: string): string {
  return (
    '{"level":"info","time":"' +
    time +
    '","msg":"request","method":"' +
    entry.method +
    '","path":' +
    quoted(entry.path) +
    ',"route":' +
    quoted(entry.route) +
    ',"status":' +
    entry.status +
    ',"duration_ms":' +
    Math.round(entry.durationMs * 1000) / 1000 +
    ',"outcome":"' +
    entry.outcome +
    (entry.credentialKind === ''
      ? ''
      : `","subject":"${entry.subject}","${entry.credentialKind}":"${entry.credentialId}`) +
    '","request_id":"' +
    entry.requestId +
    '","address":"' +
    entry.address +
    '","bytes_in":' +
    entry.bytesIn +
    ',"bytes_out":' +
    entry.bytesOut +
    (entry.reason === '' ? '' : failureFields(entry)) +
    '}\n'
  );
}

function failureFields({ reason, upstreamFailure }: AccessEntry): string {
  const why = `,"reason":${quoted(reason)}`;
  if (upstreamFailure === null) return why;
  const { upstream, address, errno, phase } = upstreamFailure;
  const code = errno === '' ? '' : `,"errno":${quoted(errno)}`;
  return `${why},"upstream":${quoted(upstream)},"upstream_address":${quoted(address)}${code},"phase":"${phase}"`;
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

const needsEscape = /[^ !#-[\]-~]/;

function quoted(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** RFC 3339 text of an instant; the text of the current millisecond is kept. */
function createClockText(): (now: number) => string {
  let last = -1;
  let text = '';
  return (now) => {
    if (now !== last) {
      last = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}
