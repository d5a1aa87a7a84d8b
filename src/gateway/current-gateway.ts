import type { JSONWebKeySet } from 'jose';
import type { HeldNow } from '../credentials/principal.ts';
import type { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { RefusedRequest } from '../http/refused-request.ts';
import type { BackgroundSettings } from '../runtime/background-work.ts';
import { noGateway, type WatchedGateway } from '../runtime/metrics.ts';
import type { SessionTimes } from '../stores/sessions.ts';
import type { Gateway } from './gateway.ts';

/** The gateway that serves now. A reload replaces it; parts that survive a reload reach it through here. */
export class CurrentGateway {
  readonly #initial: BackgroundSettings;
  #serving: Gateway | null = null;

  /** `initial`: settings that count until the first gateway serves. */
  constructor(initial: BackgroundSettings) {
    this.#initial = initial;
  }

  /** Serves new exchanges by `next`; the previous gateway closes after its last exchange. */
  replace(next: Gateway): void {
    this.#serving?.retire();
    this.#serving = next;
  }

  /** As {@link Gateway.handle}. */
  handle(exchange: Exchange): void {
    this.#required().handle(exchange);
  }

  /** As {@link Gateway.decide}. */
  decide(exchange: Exchange, listener: number): void {
    this.#required().decide(exchange, listener);
  }

  /** As {@link Gateway.refuse}. */
  refuse(exchange: Exchange, error: unknown, decision?: number): void {
    this.#required().refuse(exchange, error, decision);
  }

  /** As {@link Gateway.refuseBegun}. */
  refuseBegun(request: RefusedRequest, refusal: Refusal): string {
    return this.#required().refuseBegun(request, refusal);
  }

  readonly heldNow: HeldNow = (principal) => this.#required().heldNow(principal);

  /** What metrics read; all zero until the first gateway is composed. */
  watched(): WatchedGateway {
    return this.#serving ?? noGateway;
  }

  /** Settings for work that goes on beside the requests, from the configuration that serves now or is about to. */
  settings(): BackgroundSettings {
    return this.#serving?.settings ?? this.#initial;
  }

  /** `sessions.stale_if_error` of {@link settings}, ms. */
  staleIfErrorMs(): number {
    return this.settings().sessions.stale_if_error;
  }

  /** The lifetimes of sessions in the configuration that serves now. */
  sessionTimes(): SessionTimes {
    return this.#required().sessionTimes;
  }

  /** The public keys of assertions; null until the first gateway is composed. */
  async assertionKeys(): Promise<JSONWebKeySet | null> {
    return this.#serving === null ? null : this.#serving.assertionKeys();
  }

  /** Closes the gateway that serves now. */
  async close(): Promise<void> {
    await this.#serving?.close();
  }

  #required(): Gateway {
    if (this.#serving === null) throw new Error('no gateway has been composed yet');
    return this.#serving;
  }
}
