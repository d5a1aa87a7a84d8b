import { setTimeout as sleep } from 'node:timers/promises';
import type { IdTokenSeals } from '../credentials/session-seals.ts';
import type { ProviderSignIn } from '../endpoints/provider-sign-in.ts';
import type { StartCookies } from '../endpoints/start-cookies.ts';
import type { IdentityProvider } from '../identity-providers/identity-provider.ts';
import type { EndSessionParameters } from '../identity-providers/provider-urls.ts';
import type { Log } from '../log/log.ts';
import type { Session } from '../stores/sessions.ts';
import type { Provider } from './pages/sign-in.ts';

/** An identity provider that the sign-in page may offer. */
export interface PageProvider {
  readonly name: string;
  readonly label: string;
  readonly provider: Pick<IdentityProvider, 'start' | 'startOf' | 'response' | 'requiresIssuer'>;
  readonly signIn: ProviderSignIn;
  readonly cookies: StartCookies;
  /** As {@link IdentityProvider.offersCode}. */
  readonly offersCode: () => Promise<boolean>;
  /** Sign-out at the provider; null: there is none. */
  readonly endSession: {
    readonly open: IdTokenSeals['open'];
    readonly url: (parameters: EndSessionParameters) => Promise<string | null>;
  } | null;
}

/**
 * The URL for signing out at the provider of a session; null: there is none. For a session without an ID token, which may have
 * been too long to keep, the URL has no `id_token_hint`.
 */
export async function endSessionUrlOf(
  { endSession }: PageProvider,
  { id, sealedIdToken }: Session,
  redirectUri: string,
  state: string,
): Promise<string | null> {
  if (endSession === null) return null;
  const idToken = sealedIdToken === null ? undefined : endSession.open(id, sealedIdToken);
  return endSession.url({ idToken, redirectUri, state });
}

/** Maximum time that the page waits for the metadata of a provider, ms. */
const maxWaitMs = 1_000;

/** Creates the function that finds the providers to offer: those that return codes, or don't respond within a second. */
export function createOfferedProviders(
  providers: readonly PageProvider[],
  log: Pick<Log, 'warn'>,
): () => Promise<readonly Provider[]> {
  const reported = new Set<string>();

  async function isOffered({ name, offersCode }: PageProvider): Promise<boolean> {
    const offers = await Promise.race([offersCode(), sleep(maxWaitMs, true, { ref: false })]);
    if (!offers && !reported.has(name)) {
      reported.add(name);
      log.warn('identity provider left off the sign-in page: its metadata offers no authorization codes', {
        provider: name,
      });
    }
    return offers;
  }

  return async () => {
    const offered = await Promise.all(providers.map(isOffered));
    return providers.filter((_, index) => offered[index]);
  };
}
