import type { Test } from 'tap';
import type { ApiClient, ApiResponse } from '../clients/api-client.ts';
import { administrator } from '../gateway/gateway.ts';
import { navigation, ownForm, startWebGateway } from './web.ts';

/** Origins of the tests: that of `base_url`, two named hosts, and one under a wildcard. */
export const base = 'https://acme.example.com';
export const wiki = 'https://wiki.acme.example.com';
export const notes = 'https://notes.example.org';
export const preview = 'https://pr-7.preview.acme.dev';

export const hosts = [wiki, notes, 'https://*.preview.acme.dev'];
/** A browser route at each host, and what tells them from those without one. */
export const hostRoutes = [
  ...hosts.map((origin) => ({ host: new URL(origin).host, prefix: '/', upstream: 'app', browser: true })),
  { host: 'wiki.acme.example.com', prefix: '/programs', upstream: 'app' },
  { prefix: '/app', upstream: 'app', browser: true },
];
export const hostCookieName = '__Host-service_refresh_cookie_at';
export const hostStartPrefix = '__Host-service_refresh_cookie_start_';

/** A gateway with named hosts, and a first administrator. */
export const startHostsGateway = (t: Test, config: object = {}) =>
  startWebGateway(t, { hosts, routes: hostRoutes, ...config });

/** A request of a browser. */
export interface HostRequest {
  readonly form?: Record<string, string>;
  readonly method?: string;
  /** Default: those of a navigation from elsewhere, or of a form of the origin's own. */
  readonly headers?: Record<string, string>;
}

/** A page, and the address at which the browser is. */
export interface Shown extends ApiResponse {
  readonly url: string;
  /** The addresses that led there, the first one first. */
  readonly via: readonly string[];
}

/** A browser that has cookies of each host, and follows redirects and `Refresh`. */
export interface HostBrowser {
  /** One request; a redirect is a response. */
  send(url: string, request?: HostRequest): Promise<ApiResponse>;
  /** Opens an address, or sends a form there, and follows where it leads. */
  open(url: string, request?: HostRequest): Promise<Shown>;
  /** Opens an address and signs in on the page to which it leads, as the first administrator unless `person` says otherwise. */
  signIn(url: string, person?: Record<'username' | 'password', string>): Promise<Shown>;
  /** The values of the cookies of an origin's host, by name, the oldest first. */
  readonly cookiesAt: (origin: string) => Map<string, string>;
}

const maxSteps = 20;

/** Creates a browser without cookies. `gateway`: its client is asked anew for each request. */
export function createHostBrowser(gateway: { readonly api: Pick<ApiClient, 'send'> }): HostBrowser {
  const jars = new Map<string, Map<string, string>>();
  function cookiesAt(origin: string): Map<string, string> {
    const { hostname } = new URL(origin);
    const jar = jars.get(hostname) ?? new Map<string, string>();
    jars.set(hostname, jar);
    return jar;
  }

  async function send(url: string, { form, method, headers }: HostRequest = {}): Promise<ApiResponse> {
    const { host, pathname, search } = new URL(url);
    const jar = cookiesAt(url);
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const response = await gateway.api.send({
      method: method ?? (form === undefined ? 'GET' : 'POST'),
      path: pathname + search,
      ...(form !== undefined && { form }),
      headers: { host, ...(headers ?? (form === undefined ? navigation : ownForm)) },
      ...(cookie !== '' && { cookie }),
    });
    for (const line of response.setCookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/; Max-Age=0;/.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  async function open(first: string, request: HostRequest = {}): Promise<Shown> {
    const via: string[] = [];
    let [url, next] = [first, request];
    for (let step = 0; step < maxSteps; step++) {
      const response = await send(url, next);
      const leads = leadsTo(response);
      if (leads === undefined) return { ...response, url, via };
      via.push(url);
      // What follows is no form, and carries the headers of the page that led there.
      [url, next] = [
        new URL(leads, url).href,
        { headers: { ...navigation, 'sec-fetch-site': 'cross-site' } },
      ];
    }
    throw new Error(`led on ${maxSteps} times: ${via.join(' ')}`);
  }

  return {
    send,
    open,
    cookiesAt,
    async signIn(url, { username, password } = administrator) {
      const page = await open(url);
      return open(new URL('/postern/sign-in', page.url).href, {
        form: { ...hiddenFields(page.text), username, password },
      });
    },
  };
}

/** The address to which a response leads by itself; undefined: the page stays. */
export function leadsTo({ status, headers }: ApiResponse): string | undefined {
  if (status >= 300 && status < 400) return headers.location;
  return /^0; url=(.+)$/.exec(headers.refresh ?? '')?.[1];
}

/** The hidden fields of a page's form, as a browser sends them. */
export function hiddenFields(text: string): Record<string, string> {
  const fields = text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name, value]) => [name!, unescaped(value!)]));
}

const unescaped = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
