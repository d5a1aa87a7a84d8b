import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestGateway,
} from '../support/gateway/gateway.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { onFreePort } from '../support/servers/free-port.ts';
import { missingPython, programs, python } from './program-paths.ts';
import { type ServerKind, type ServerPlace, startRealServer } from './real-server.ts';

/** A web application behind the sign-in page, and a browser in front of it. */
export interface WebApplication {
  readonly page: Page;
  readonly gateway: TestGateway;
  /** Of the gateway, as the browser sees it. */
  readonly origin: string;
  /** The application's files: names, and what is in one. */
  files(): string[];
  contentOf(file: string): Buffer;
  /** Opens a path of the application; signs in where that leads to the sign-in page. */
  openSignedIn(path: string): Promise<void>;
  /** Signs out in another tab, as a person would, and waits until the gateway has ended the session. */
  signOut(): Promise<void>;
  /** What a script of the application gets for a path: status and body. */
  fetched(path: string): Promise<{ readonly status: number; readonly text: string }>;
}

function application(
  name: string,
  isReadyAt: string,
  processOf: (place: ServerPlace) => readonly [string, ...string[]],
  env: (place: ServerPlace) => Record<string, string> = () => ({}),
): ServerKind {
  return {
    name,
    missing: missingPython,
    isReady: (port) => fetch(`http://127.0.0.1:${port}${isReadyAt}`).then(({ status }) => status < 500),
    processes: (place) => [{ command: processOf(place), env: env(place) }],
  };
}

/** JupyterLab: kernels over WebSockets, uploads, an API of its own below `/api`. */
export const jupyterLab = application(
  'JupyterLab',
  '/api/status',
  ({ folder, port }) => [
    python,
    '-m',
    'jupyterlab',
    '--no-browser',
    '--allow-root',
    '--ip=127.0.0.1',
    `--port=${port}`,
    `--ServerApp.root_dir=${folder}`,
    '--IdentityProvider.token=',
    '--ServerApp.password=',
  ],
  ({ folder }) => ({ HOME: folder, JUPYTER_CONFIG_DIR: join(folder, '.jupyter') }),
);

/** copyparty: a file server that uploads in pieces, several at once. */
export const copyparty = application(
  'copyparty',
  '/',
  ({ folder, port }) => [
    python,
    '-m',
    'copyparty',
    '-i',
    '127.0.0.1',
    '-p',
    `${port}`,
    '-v',
    `${folder}::rwmda`,
  ],
  ({ folder }) => ({ HOME: folder }),
);

/** Django's administration site: forms with a guard of their own, for the user of `Remote-User`. */
export const djangoAdmin = application(
  'Django admin',
  '/static/admin/css/base.css',
  () => [python, join(programs, 'django_admin.py')],
  ({ folder }) => ({ UPSTREAM_DATABASE: join(folder, 'django.db'), UPSTREAM_USER: administrator.username }),
);

/** Starts an application, a gateway in front of it and a browser; undefined (and a visible skip) where one is missing. */
export async function startWebApplication(
  t: Test,
  kind: ServerKind,
  identityHeaders: Record<string, string> = {},
): Promise<WebApplication | undefined> {
  const reason = isLong ? kind.missing() : 'runs with POSTERN_TEST_LONG alone';
  if (reason !== undefined) {
    t.pass(`needs ${kind.name}`, { skip: reason });
    return undefined;
  }
  const context = await openBrowser(t);
  if (context === null) return undefined;
  let folder = '';
  const server = await startRealServer(t, {
    ...kind,
    processes(place) {
      folder = place.folder;
      return kind.processes(place);
    },
  });
  const { gateway, origin } = await startGatewayAt(t, server.port, identityHeaders);
  await gateway.api.activate(administrator.username, administrator.password, bootstrapToken);
  const page = await context.newPage();
  return {
    page,
    gateway,
    origin,
    files: () => readdirSync(folder),
    contentOf: (file) => readFileSync(join(folder, file)),
    async openSignedIn(path) {
      await page.goto(`${origin}${path}`);
      if (!page.url().startsWith(`${origin}/postern/sign-in`)) return;
      await page.fill('[name=username]', administrator.username);
      await page.fill('[name=password]', administrator.password);
      await page.click('main button[type=submit]');
    },
    async signOut() {
      const tab = await context.newPage();
      await tab.goto(`${origin}/postern/`);
      await tab.click('text=Sign out');
      await tab.waitForURL(`${origin}/postern/signed-out`);
      await tab.close();
    },
    fetched: (path) =>
      page.evaluate<{ status: number; text: string }>(
        `fetch(${JSON.stringify(path)}).then(async (r) => ({ status: r.status, text: await r.text() }))`,
      ),
  };
}

async function startGatewayAt(t: Test, upstreamPort: number, identityHeaders: Record<string, string>) {
  let gateway: TestGateway | undefined;
  const port = await onFreePort(async (port) => {
    gateway = await startTestGateway(t, {
      config: {
        base_url: `http://127.0.0.1:${port}`,
        listen: { port },
        web: { title: 'Applications' },
        upstreams: {
          app: { url: `http://127.0.0.1:${upstreamPort}`, identity_headers: identityHeaders },
        },
        routes: [{ prefix: '/', upstream: 'app', browser: true, upgrades: ['websocket'] }],
      },
    });
  });
  return { gateway: gateway!, origin: `http://127.0.0.1:${port}` };
}
