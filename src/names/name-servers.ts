/** A question that was put to one name server. */
export interface Asked {
  /** Rejects with one of c-ares' codes. */
  readonly addresses: Promise<readonly string[]>;
  /** Ends it; `addresses` then rejects. */
  cancel(): void;
}

/** Puts a question to one server, which gets so many ms to respond. */
export type Ask<Server> = (server: Server, timeoutMs: number) => Asked;

/** Calls back after so many ms, unless the returned function is called before. */
type After = (ms: number, run: () => void) => () => void;

/** After how long without a response the next server is asked as well, ms. */
export const nextAfterMs = 800;
/** How long the first server may take, ms; those asked later have until then, too. */
export const patienceMs = 5_000;
/** How often each server is asked at most, where there are several. */
const rounds = 2;
/** Of one question at a time; each takes a file descriptor. */
const maxOpen = 3;
/** There is no such name or no address of it, say the name servers; or it can't be a name at all. */
export const absent: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/**
 * Asks one name server after the other, and then again from the first, as res_send(3) does: the next one at once when one
 * fails, and as well when one is silent, because a late response is as good as any. Rejects with one of c-ares' codes.
 * `servers` are in the order to ask them in: one that responds while an earlier one is silent moves to its front.
 */
export function askInTurn<Server>(
  servers: Server[],
  ask: Ask<Server>,
  after: After = startTimer,
): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const fail = (code: string) => reject(Object.assign(new Error(code), { code }));
    new Question(servers, ask, after, resolve, fail).askNext();
  });
}

class Question<Server> {
  readonly #servers: Server[];
  readonly #ask: Ask<Server>;
  readonly #after: After;
  readonly #onFound: (addresses: readonly string[]) => void;
  readonly #onFailed: (code: string) => void;
  readonly #open = new Map<Asked, Server>();
  #left: readonly Server[];
  #elapsedMs = 0;
  #failure = 'ETIMEOUT';
  #stopWaiting = () => {};

  constructor(
    servers: Server[],
    ask: Ask<Server>,
    after: After,
    onFound: (addresses: readonly string[]) => void,
    onFailed: (code: string) => void,
  ) {
    this.#servers = servers;
    this.#ask = ask;
    this.#after = after;
    this.#onFound = onFound;
    this.#onFailed = onFailed;
    const length = Math.max(maxOpen, rounds * servers.length);
    this.#left = Array.from({ length }, (_, i) => servers[i % servers.length]!);
  }

  askNext(): void {
    this.#stopWaiting();
    if (this.#left.length === 0 || this.#open.size === maxOpen) return;
    const [server, ...left] = this.#left as [Server, ...Server[]];
    this.#left = left;
    const asked = this.#ask(server, patienceMs - this.#elapsedMs);
    this.#open.set(asked, server);
    asked.addresses.then(
      (addresses) => {
        if (this.#end(asked)) this.#onFound(addresses);
      },
      ({ code }: NodeJS.ErrnoException) => this.#onError(asked, String(code)),
    );
    this.#stopWaiting = this.#after(nextAfterMs, () => {
      this.#elapsedMs += nextAfterMs;
      this.askNext();
    });
  }

  #onError(asked: Asked, code: string): void {
    if (absent.has(code)) {
      if (this.#end(asked)) this.#onFailed(code);
      return;
    }
    if (!this.#open.has(asked)) return;
    const server = this.#open.get(asked);
    this.#open.delete(asked);
    if (code !== 'ETIMEOUT') this.#failure = code;
    this.#left = this.#left.filter((other) => other !== server);
    const silent = [...this.#open.values()];
    if (this.#left.length > 0) {
      if (!silent.includes(this.#left[0]!)) this.askNext();
    } else if (silent.length === 0) {
      this.#stopWaiting();
      this.#onFailed(this.#failure);
    }
  }

  /** This one has responded; false: another one had before. */
  #end(asked: Asked): boolean {
    if (!this.#open.has(asked)) return false;
    this.#stopWaiting();
    const servers = this.#servers;
    const at = servers.indexOf(this.#open.get(asked)!);
    this.#open.delete(asked);
    if ([...this.#open.values()].some((silent) => servers.indexOf(silent) < at))
      servers.unshift(...servers.splice(at, 1));
    for (const silent of this.#open.keys()) silent.cancel();
    this.#open.clear();
    return true;
  }
}

function startTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
