import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';

/**
 * Creates the guard that refuses the script of a service worker (Service Workers §4.5) whose folder contains the pages at `path`:
 * the worker could read what is typed there. The guard throws {@link Refusal} `cross_site`.
 */
export function createServiceWorkerGuard(path: string): (script: Pick<Exchange, 'head' | 'path'>) => void {
  const area = `${path}/`;
  return ({ head, path: script }) => {
    if (head.serviceWorker === '') return;
    const folder = script.slice(0, script.lastIndexOf('/') + 1);
    if (area.startsWith(folder))
      throw new Refusal('cross_site', { reason: 'service worker above the pages' });
  };
}
