/** A response as a page's script gets it, or a page. */
export interface BrowserResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body parsed as JSON; undefined if it isn't JSON. */
  readonly json: any;
}

/** What a browser does of HTTP: it keeps cookies, follows redirects and sends forms. Cookies know no ports. */
export interface HttpBrowser {
  /** One request, with the cookies of that path; a redirect is a response. `form` makes it a POST. */
  send(url: string, sent?: BrowserRequest): Promise<BrowserResponse>;
  /**
   * Goes to the address of a provider and on, through redirects and the provider's login and consent pages, until it is
   * sent to `redirectUri`: gives that address, with the query or fragment.
   */
  signInAt(url: string, account: string, redirectUri: string): Promise<URL>;
  /** Value of a cookie, whatever its path; undefined when there is none. */
  cookie(name: string): string | undefined;
}

/** What is sent beside the cookies. */
export interface BrowserRequest {
  readonly form?: Record<string, string>;
  readonly headers?: Record<string, string>;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

const maxSteps = 20;

/** Creates one without cookies. */
export function createHttpBrowser(): HttpBrowser {
  const jar = new Map<string, Cookie>();

  async function send(url: string, { form, headers = {} }: BrowserRequest = {}): Promise<BrowserResponse> {
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { ...headers, cookie: cookieHeader(new URL(url).pathname) },
      body: form && new URLSearchParams(form),
      redirect: 'manual',
    });
    for (const line of response.headers.getSetCookie()) store(line);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parse(text) };
  }

  function cookieHeader(path: string): string {
    const sent = [...jar.values()].filter((cookie) => isBelow(path, cookie.path));
    return sent.map(({ name, value }) => `${name}=${value}`).join('; ');
  }

  function store(line: string): void {
    const [pair = '', ...attributes] = line.split(/; */);
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    const attribute = (wanted: string) =>
      attributes
        .map((text) => text.split('='))
        .find(([key]) => key!.toLowerCase() === wanted)
        ?.at(1);
    const path = attribute('path') ?? '/';
    const isOver =
      attribute('max-age') === '0' || Date.parse(attribute('expires') ?? '9999-01-01') <= Date.now();
    if (isOver) jar.delete(`${path} ${name}`);
    else jar.set(`${path} ${name}`, { name, value, path });
  }

  async function signInAt(url: string, account: string, redirectUri: string): Promise<URL> {
    let at = url;
    let form: Record<string, string> | undefined;
    for (let step = 0; step < maxSteps; step++) {
      const response = await send(at, { form });
      const location = response.headers.get('location');
      const next = location === null ? formIn(response, account) : { action: location, form: undefined };
      at = new URL(next.action, at).href;
      form = next.form;
      if (at.startsWith(redirectUri)) return new URL(at);
    }
    throw new Error(`sent on ${maxSteps} times, the last time to ${at}`);
  }

  return {
    send,
    signInAt,
    cookie: (name) => [...jar.values()].find((cookie) => cookie.name === name)?.value,
  };
}

/** RFC 6265 §5.1.4. */
function isBelow(path: string, cookiePath: string): boolean {
  return path === cookiePath || path.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`);
}

/** The only form of a page, filled in. */
function formIn({ status, text }: BrowserResponse, account: string) {
  const action = /<form [^>]*action="([^"]+)"/.exec(text)?.[1];
  if (action === undefined) throw new Error(`a page without a form, ${status}: ${text.slice(0, 500)}`);
  const inputs = [...text.matchAll(/<input [^>]*name="([^"]+)"(?: value="([^"]*)")?/g)];
  const typed: Record<string, string> = { login: account, password: 'any' };
  return {
    action,
    form: Object.fromEntries(inputs.map(([, name, value]) => [name, value ?? typed[name!]!])),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
