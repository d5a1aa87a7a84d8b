import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log/log.ts';
import type { Provider } from './components/provider-link.ts';
import type { PageProvider } from './page-provider.ts';

/** Time that the page waits for an unknown provider's metadata, ms. */
const maxWaitMs = 1_000;

/** Creates a function that returns usable providers: those that return codes, or don't respond within a second. */
export function createOfferedProviders(
  providers: readonly PageProvider[],
  log: Pick<Log, 'warn'>,
): () => Promise<readonly Provider[]> {
  const told = new Set<string>();

  async function isOffered({ name, offersCode }: PageProvider): Promise<boolean> {
    const offers = await Promise.race([offersCode(), sleep(maxWaitMs, true, { ref: false })]);
    if (!offers && !told.has(name)) {
      told.add(name);
      log.warn('the sign-in page has no link to a provider that returns no codes', { provider: name });
    }
    return offers;
  }

  return async () => {
    const offered = await Promise.all(providers.map(isOffered));
    return providers.filter((_, index) => offered[index]);
  };
}
