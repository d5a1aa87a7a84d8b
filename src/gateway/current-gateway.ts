import type { Config } from '../config/sections/schema.ts';
import type { BackgroundSettings } from '../runtime/background-work.ts';
import type { Gateway } from './gateway.ts';

/** The pointer to the gateway that serves now, for parts that survive a reload. */
export class CurrentGateway {
  readonly #initial: BackgroundSettings;
  /** Null until the first gateway is composed. */
  serving: Gateway | null = null;

  /** `initial`: the configuration of the start. */
  constructor(initial: Config) {
    this.#initial = initial;
  }

  /** The gateway that serves now; throws until the first one is composed. */
  get gateway(): Gateway {
    if (this.serving === null) throw new Error('no gateway has been composed yet');
    return this.serving;
  }

  /** Settings of the work beside the requests: those of the gateway that serves now or is about to. */
  get settings(): BackgroundSettings {
    return this.serving?.settings ?? this.#initial;
  }

  /** Serves new exchanges by `next`; the previous gateway closes after its last exchange. */
  replace(next: Gateway): void {
    this.serving?.retire();
    this.serving = next;
  }
}
