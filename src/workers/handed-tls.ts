import type { ListenerTls } from '../http1/server/tls-settings.ts';
import type { ListenersTls } from '../listeners/listener-certificates.ts';

/** What is sent to workers of the settings of listeners: PEM texts, no objects that are made of them. */
export function handedTls({ listen, decisions }: ListenersTls): ListenersTls {
  return { listen: textsOf(listen), decisions: decisions.map(textsOf) };
}

function textsOf(tls: ListenerTls | null): ListenerTls | null {
  return tls === null ? null : { cert: tls.cert, key: tls.key, clients: tls.clients };
}
