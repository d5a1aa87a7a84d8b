import type { Principal } from '../credentials/principal.ts';
import type { Exchange } from '../http/exchange.ts';
import type { OpenStreams } from './open-streams.ts';
import type { ResponseRules } from './response-headers.ts';
import type { ForwardingRoute } from './route-table.ts';

/** Sends an admitted exchange to its upstream, and the response back. Throws `UnwritableHead` only before anything is sent. */
export type Forward = (
  exchange: Exchange,
  route: ForwardingRoute,
  principal: Principal | null,
  /** True for a CORS preflight that the upstream responds to: it is sent without its query and without any credential. */
  preflight?: boolean,
) => void;

/** Dependencies of forwarding, the same for every request. */
export interface ForwardOptions extends ResponseRules {
  readonly streams: OpenStreams;
  /** True if the log lists every header that is removed; false: kinds of some are counted. */
  readonly listsRemoved: boolean;
  /** The name of this gateway in `Postern-Via`. */
  readonly via: string;
  readonly refuse: (exchange: Exchange, error: unknown) => void;
}
