import { addressKey } from '../credentials/address-key.ts';
import { refusals } from '../errors.ts';
import { keptText } from '../http1/message/copied-text.ts';
import type { AuditEventName } from '../log/audit-events.ts';
import { anonymous } from '../log/log.ts';
import type { AuditDraft } from '../stores/audit.ts';

const windowMs = 60_000;
/** Maximum number of lines in a window, including one that sums up the rest. */
const maxLines = 300;
const probingStatuses: ReadonlySet<number> = new Set([401, 403, 429]);

/** The audit events of codes that have one of their own. */
const events: Readonly<Record<string, AuditEventName>> = {
  invalid_credentials: 'login_failed',
  invalid_assertion: 'login_failed',
  user_not_provisioned: 'login_failed',
  invalid_bootstrap_token: 'activation_failed',
  invalid_invitation: 'invitation_failed',
};

interface Count {
  count: number;
  first: number;
  last: number;
}

/**
 * Counts refusals that may be probing (401, 403, 429), by address (IPv6: by /64) and code, in windows of a minute, each of which
 * begins with a refusal. Memory is bounded, however many addresses there are.
 */
export class CountedRefusals {
  readonly #now: () => number;
  readonly #onLines: (lines: readonly AuditDraft[]) => void;
  readonly #byCode = new Map<string, Map<string, Count>>();
  /** Count of all addresses and codes without a line of their own. */
  #others: Count | null = null;
  #lines = 0;
  /** Beginning of the window, epoch ms; null if nothing has been refused since the last one. */
  #began: number | null = null;

  /** `now` is the clock, epoch ms; `onLines` is called at the end of each window in which something was refused. */
  constructor(now: () => number, onLines: (lines: readonly AuditDraft[]) => void) {
    this.#now = now;
    this.#onLines = onLines;
    for (const [code, { status }] of Object.entries(refusals))
      if (probingStatuses.has(status)) this.#byCode.set(code, new Map());
  }

  /** Counts a refusal by its code; ignores codes of other statuses. */
  count(code: string, address: string): void {
    const counts = this.#byCode.get(code);
    if (counts === undefined) return;
    const now = this.#now();
    this.#began ??= now;
    // IPv4 addresses are their own keys.
    const key = address.includes(':') ? addressKey(address) : address;
    const known = counts.get(key) ?? this.#add(counts, key, now);
    known.count++;
    known.last = now;
  }

  #add(counts: Map<string, Count>, key: string, now: number): Count {
    const added = { count: 0, first: now, last: now };
    if (this.#lines === maxLines - 1) {
      this.#others ??= added;
      return this.#others;
    }
    this.#lines += 1;
    counts.set(keptText(key), added);
    return added;
  }

  /** Hands over the lines of a window that has ended; called about every second. */
  endWindow(): void {
    if (this.#began !== null && this.#now() - this.#began >= windowMs) this.flush();
  }

  /** Hands over the lines collected so far. */
  flush(): void {
    if (this.#began === null) return;
    const lines: AuditDraft[] = [];
    for (const [code, counts] of this.#byCode) {
      for (const [key, repeated] of counts) lines.push(lineOf(code, key === '' ? null : key, repeated));
      counts.clear();
    }
    if (this.#others !== null) lines.push(lineOf(undefined, null, this.#others));
    this.#others = null;
    this.#lines = 0;
    this.#began = null;
    this.#onLines(lines);
  }
}

function lineOf(code: string | undefined, address: string | null, repeated: Count): AuditDraft {
  return {
    event: events[code ?? ''] ?? 'request_refused',
    outcome: 'failure',
    actor: anonymous,
    subject: null,
    target: null,
    changes: null,
    reason: code,
    address,
    requestId: null,
    repeated,
  };
}
