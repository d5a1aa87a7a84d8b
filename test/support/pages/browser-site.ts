import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestGateway,
  type TestScope,
} from '../gateway/gateway.ts';
import { onFreePort } from '../servers/free-port.ts';
import { startRecordingUpstream } from '../servers/recording-upstream.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from '../servers/web-sockets.ts';

/** A gateway as a browser reaches it, in front of a service with pages. */
export interface BrowserSite extends TestGateway {
  /** Its `base_url`: `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** The upstream of `/live`. */
  readonly sockets: WebSocketUpstream;
  /** Serves by another configuration from now on; `config` is added to that of the start. */
  configure(config: object): Promise<void>;
}

/** What the site's configuration adds to that of every test. */
function siteConfig(origin: string, addresses: { readonly app: string; readonly sockets: string }): object {
  return {
    base_url: origin,
    web: { title: 'Orders' },
    routes: [
      { prefix: '/live', upstream: 'sockets', browser: true },
      { prefix: '/', upstream: 'app', browser: true },
    ],
    upstreams: { app: { url: addresses.app }, sockets: { url: addresses.sockets } },
    shutdown: { timeout: '50ms' },
  };
}

/**
 * Starts both. Every path is a page of the service, with a form; `/live` accepts WebSockets, `/events` is a stream.
 * Unless `activated` is false there is an administrator.
 */
export async function startBrowserSite(
  t: TestScope,
  { activated = true, config = {} }: { readonly activated?: boolean; readonly config?: object } = {},
): Promise<BrowserSite> {
  const sockets = await startWebSocketUpstream(t);
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  upstream.response = respondWithPage;
  const addresses = { app: upstream.url, sockets: sockets.url };
  let started: TestGateway | undefined;
  let base: object = {};
  const port = await onFreePort(async (port) => {
    base = { ...siteConfig(`http://127.0.0.1:${port}`, addresses), listen: { port }, ...config };
    started = await startTestGateway(t, { config: base });
  });
  const gateway = started!;
  if (activated) await gateway.api.activate(administrator.username, administrator.password, bootstrapToken);
  return {
    ...gateway,
    upstream,
    origin: `http://127.0.0.1:${port}`,
    sockets,
    configure: (more) => gateway.reload({ ...base, ...more }),
  };
}

/** What the service says: a page that names its address and who is signed in, a stream at `/events`. */
export function respondWithPage({ method, url, headers }: IncomingMessage, response: ServerResponse): void {
  if (url === '/events') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\n\n');
    return;
  }
  const who = headers['x-auth-username'];
  response.writeHead(200, { 'Content-Type': 'text/html' }).end(
    `<!doctype html><title>Orders</title><h1>${method} ${url}</h1><p id="who">${who}</p>
     <form method="post" action="/orders"><input name="item"><button id="order">Order</button></form>`,
  );
}

/** Fills in the form of the sign-in page, and sends it. */
export async function signIn(
  page: Page,
  { username, password }: { readonly username: string; readonly password: string } = administrator,
): Promise<void> {
  await page.fill('[name=username]', username);
  await page.fill('[name=password]', password);
  await page.click('main button[type=submit]');
}

/** Text of the heading of the page that is shown. */
export const heading = (page: Page): Promise<string | null> => page.textContent('h1');

/** A WebSocket to `/live` and an event stream of `/events` that a page has open. */
export interface OpenStreams {
  areOpen(): Promise<boolean>;
  /** Notes the time. */
  mark(): Promise<void>;
  /** Resolves when both have ended: the close code of the WebSocket, and the ms since `mark` was called. */
  ended(): Promise<{ readonly code: number; readonly tookMs: number }>;
}

/** Opens them from a page of the site; they end with the page at the latest. */
export async function openStreams(page: Page): Promise<OpenStreams> {
  await page.evaluate(`(async () => {
    const socket = new WebSocket(location.origin.replace('http', 'ws') + '/live');
    const events = new EventSource('/events');
    const first = (target, name) => new Promise((resolve) => target.addEventListener(name, resolve, { once: true }));
    const ended = Promise.all([first(socket, 'close'), first(events, 'error')])
      .then(([{ code }]) => ({ code, tookMs: performance.now() - streams.since }));
    window.streams = { socket, events, ended, since: NaN };
    await Promise.all([first(socket, 'open'), first(events, 'message')]);
  })()`);
  return {
    areOpen: () =>
      page.evaluate(
        'streams.socket.readyState === WebSocket.OPEN && streams.events.readyState === EventSource.OPEN',
      ),
    mark: () => page.evaluate('void (streams.since = performance.now())'),
    ended: () => page.evaluate('streams.ended'),
  };
}
