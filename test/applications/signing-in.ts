import type { Test } from 'tap';
import {
  es256,
  claims as exampleClaims,
  forge,
  header,
  jwkOf,
} from '../support/corpora/forged-assertions.ts';
import { cookieNamed, navigation } from '../support/pages/web.ts';
import { json, publish, startStubProvider } from '../support/servers/stub-provider.ts';
import { type ApplicationKind, type RunningApplication, startApplication } from './application.ts';
import { recipeOf, type Written } from './recipes.ts';

/** An application whose people sign in at an identity provider. */
export interface ProvidedApplication extends RunningApplication {
  /** Signs a person of whom the provider says that in on the pages; the function opens addresses of the application. */
  signIn(said: object): Promise<(path: string, request?: RequestInit) => Promise<Response>>;
}

/** Starts an application whose recipe has a provider, with another one in its place; null, and a visible skip, without it. */
export async function startProvided(t: Test, kind: ApplicationKind): Promise<ProvidedApplication | null> {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)]);
  const [[name, recipe] = []] = Object.entries<Written>(recipeOf(kind.recipe).config.identity_providers);
  const identity_providers = { [name!]: { ...recipe, issuer: stub.origin } };
  const application = await startApplication(t, { ...kind, more: { identity_providers } });
  if (application === null) return null;
  const { gateway, origin, watch } = application;

  async function signIn(said: object) {
    const left = await gateway.api.send({ path: `/postern/sign-in/${name}`, headers: navigation });
    const { searchParams } = new URL(left.headers.location!);
    const iat = Math.floor(Date.now() / 1000);
    const about = { iss: stub.origin, nonce: searchParams.get('nonce'), iat, exp: iat + 300 };
    const idToken = forge(header, { ...exampleClaims, ...said, ...about });
    stub.responses.set('/token', json({ access_token: 'a', token_type: 'Bearer', id_token: idToken }));
    const path = `/postern/callback/${name}?code=c&state=${searchParams.get('state')}`;
    const start = left.setCookies[0]!.split(';', 1)[0]!;
    const back = await gateway.api.send({ path, headers: navigation, cookie: start });
    const session = back.setCookies.find((line) => /^[\w-]+_web=/.test(line))?.split('=', 1)[0];
    const cookie = session === undefined ? undefined : cookieNamed(back, session);
    if (cookie === undefined) throw new Error(`the callback got ${back.status} ${back.text}`);
    watch(cookie);
    const jar = new Map([[cookie.split('=', 1)[0]!, cookie]]);
    return async (path: string, request: RequestInit = {}) => {
      const headers = { ...request.headers, cookie: [...jar.values()].join('; ') };
      const response = await fetch(`${origin}${path}`, { redirect: 'manual', ...request, headers });
      for (const line of response.headers.getSetCookie()) {
        const pair = line.split(';', 1)[0]!;
        jar.set(pair.split('=', 1)[0]!, pair);
      }
      return response;
    };
  }
  return { ...application, signIn };
}
