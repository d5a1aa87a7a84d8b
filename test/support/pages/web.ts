import type { Test } from 'tap';
import type { ApiResponse } from '../clients/api-client.ts';
import { administrator, bootstrapToken, startTestGateway, type TestGateway } from '../gateway/gateway.ts';

/** Headers of a browser that follows a link, or whose user typed the address. */
export const navigation = {
  'sec-fetch-site': 'none',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
} as const;

/** Headers of a browser that sends a form of one of our own pages. */
export const ownForm = { ...navigation, 'sec-fetch-site': 'same-origin' } as const;

/** A gateway with pages for people, and a first administrator. */
export interface WebGateway extends TestGateway {
  /** What a browser gets that navigates to a path. */
  open(path: string, cookie?: string): Promise<ApiResponse>;
  /** What a browser gets that sends a form of ours. */
  submit(path: string, form: Record<string, string>, cookie?: string): Promise<ApiResponse>;
  /** Signs in with the form; the web cookie, as `name=value`. */
  signIn(): Promise<string>;
}

export const webRoutes = [
  { prefix: '/app', upstream: 'app', browser: true },
  { prefix: '/wiki', upstream: 'app', browser: true, scopes: ['store:read'] },
  { prefix: '/site', upstream: 'app', browser: true, public: true },
  { prefix: '/api', upstream: 'app' },
];

/** Starts it; `config` replaces whole sections. `showsEchoPage`: as in the quick start. */
export async function startWebGateway(
  t: Test,
  config: object = {},
  { showsEchoPage = false }: { readonly showsEchoPage?: boolean } = {},
): Promise<WebGateway> {
  const gateway = await startTestGateway(t, {
    showsEchoPage,
    config: { web: {}, routes: webRoutes, endpoints: { users: 'own' }, ...config },
  });
  const { api } = gateway;
  await api.activate(administrator.username, administrator.password, bootstrapToken);
  const withCookie = (cookie: string | undefined) => (cookie === undefined ? {} : { cookie });
  const submit = (path: string, form: Record<string, string>, cookie?: string) =>
    api.send({ method: 'POST', path, form, headers: ownForm, ...withCookie(cookie) });
  return {
    ...gateway,
    open: (path, cookie) => api.send({ path, headers: navigation, ...withCookie(cookie) }),
    submit,
    async signIn() {
      const response = await submit('/postern/sign-in', { ...administrator });
      const cookie = cookieNamed(response, webCookieName);
      if (cookie === undefined) throw new Error(`no cookie: ${response.status} ${response.text}`);
      return cookie;
    },
  };
}

export const webCookieName = '__Host-service_refresh_cookie_web';

/** `name=value` of a cookie that the response sets; undefined if it doesn't. */
export function cookieNamed({ setCookies }: ApiResponse, name: string): string | undefined {
  return setCookies.find((cookie) => cookie.startsWith(`${name}=`))?.split(';', 1)[0];
}

/** Whether the response has the browser forget the cookie. */
export function forgets({ setCookies }: ApiResponse, name: string): boolean {
  return setCookies.some((cookie) => cookie.startsWith(`${name}=; Max-Age=0;`));
}
