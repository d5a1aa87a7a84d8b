import { fromSent, type SentError, toSent } from './sent-error.ts';

/** What travels between the two processes. */
export type Message =
  | { readonly call: number; readonly name: string; readonly args: readonly unknown[] }
  | { readonly response: number; readonly value: unknown }
  | { readonly response: number; readonly error: SentError };

/** Functions that the other process may call. */
type Functions<Names extends string = string> = Record<Names, (...args: never[]) => unknown>;

/** The functions of the other process, each of which responds later. */
export type Remote<Theirs> = {
  readonly [Name in keyof Theirs]: Theirs[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Calls between two processes over the channel that Node opens between them; an error keeps its code and message. */
export class ProcessCalls<Ours extends object, Theirs> {
  /** Calls the other process; rejects with its error, or once the calls are closed. */
  readonly remote: Remote<Theirs>;
  readonly #send: (message: Message) => void;
  readonly #functions: Functions;
  readonly #pending = new Map<number, Pending>();
  #last = 0;
  #closedBy: Error | null = null;

  constructor(functions: Ours, send: (message: Message) => void) {
    this.#functions = functions as unknown as Functions;
    this.#send = send;
    this.remote = new Proxy({} as Remote<Theirs>, {
      get:
        (_target, name) =>
        (...args: readonly unknown[]) =>
          this.#call(String(name), args),
    });
  }

  /** Takes a message that has come. */
  receive(message: Message): void {
    if ('call' in message) {
      void this.#respond(message.call, message.name, message.args);
      return;
    }
    const pending = this.#pending.get(message.response);
    this.#pending.delete(message.response);
    if ('error' in message) pending?.reject(fromSent(message.error));
    else pending?.resolve(message.value);
  }

  /** Rejects the calls that have no response yet, and all later ones. */
  close(error: Error): void {
    this.#closedBy = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #call(name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#closedBy !== null) return Promise.reject(this.#closedBy);
    this.#last += 1;
    const call = this.#last;
    return new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve, reject });
      this.#send({ call, name, args });
    });
  }

  async #respond(response: number, name: string, args: readonly unknown[]): Promise<void> {
    try {
      const value = await this.#functions[name]!(...(args as never[]));
      this.#send({ response, value });
    } catch (error) {
      this.#send({ response, error: toSent(error) });
    }
  }
}
