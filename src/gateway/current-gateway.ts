import type { Config } from '../config/sections/schema.ts';
import type { Gateway } from './gateway.ts';

/** Reference to the gateway that serves now, for parts that survive a reload. */
export class CurrentGateway {
  readonly #initial: Config;
  serving: Gateway | null = null;

  constructor(initial: Config) {
    this.#initial = initial;
  }

  /** The gateway that serves now; throws until the first one is composed. */
  get gateway(): Gateway {
    if (this.serving === null) throw new Error('no gateway has been composed yet');
    return this.serving;
  }

  /** The configuration of the gateway that serves now; the initial one until a gateway is composed. */
  get config(): Config {
    return this.serving?.parts.config ?? this.#initial;
  }

  /** Serves new exchanges with `next`; the previous gateway closes after its last exchange. */
  replace(next: Gateway): void {
    this.serving?.retire();
    this.serving = next;
  }
}
