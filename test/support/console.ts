import type { BrowserContext, Page } from 'playwright-core';
import type { Test } from 'tap';
import { addUser } from './accounts.ts';
import { eventually } from './eventually.ts';
import { onFreePort } from './free-port.ts';
import { administrator, bootstrapToken, startTestGateway, type TestGateway } from './gateway.ts';

/** Who opens the console, and what they may do; the administrator is ada. */
export const roles = {
  plain: [],
  'key manager': ['apikeys:read', 'apikeys:write', 'store:read'],
  'user manager': [
    'users:read',
    'users:write',
    'scopesets:read',
    'sessions:read',
    'sessions:write',
    'store:read',
  ],
  auditor: ['audit:read', 'sessions:read'],
} as const;

export type Role = keyof typeof roles | 'administrator';

const password = 'a password of the tests';

/** A gateway with a console, and people of every role. */
export interface ConsoleGateway extends TestGateway {
  readonly origin: string;
  /** Opens an address of the console in a new tab, signed in as that role. */
  open(context: BrowserContext, role: Role, path?: string): Promise<Page>;
}

/** Starts it on the port of its `base_url`, as a browser needs it. `web` replaces keys of that section. */
export async function startConsole(t: Test, config: object = {}): Promise<ConsoleGateway> {
  let started: TestGateway | undefined;
  const port = await onFreePort(async (port) => {
    started = await startTestGateway(t, {
      config: {
        base_url: `http://127.0.0.1:${port}`,
        listen: { port },
        web: { title: 'Orders', console: {} },
        endpoints: { users: 'own' },
        ...config,
      },
    });
  });
  const gateway = started!;
  const origin = `http://127.0.0.1:${port}`;
  await gateway.api.activate(administrator.username, administrator.password, bootstrapToken);
  for (const [role, scopes] of Object.entries(roles))
    await addUser(gateway.folder, { username: role, password, scopes });

  return {
    ...gateway,
    origin,
    async open(context, role, path = '') {
      const page = await context.newPage();
      await page.goto(`${origin}/postern/console/${path}`);
      const { username, password: own } =
        role === 'administrator' ? administrator : { username: role, password };
      await page.fill('[name=username]', username);
      await page.fill('[name=password]', own);
      await page.click('main button[type=submit]');
      await settled(page);
      return page;
    },
  };
}

/** Waits until the console has loaded what it shows. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('#console main h1');
  await eventually('everything is loaded', () =>
    page.evaluate<boolean>(
      `document.querySelectorAll('[aria-busy=true]').length === 0 && !document.body.textContent.includes('Loading…')`,
    ),
  );
}
