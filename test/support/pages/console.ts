import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { Test } from 'tap';
import { addUser } from '../administration/accounts.ts';
import { eventually } from '../eventually.ts';
import { administrator, bootstrapToken, startTestGateway, type TestGateway } from '../gateway/gateway.ts';
import { onFreePort } from '../servers/free-port.ts';
import { cloneNewestRow, greatest, setNumber } from '../stores/cloned-rows.ts';

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
  /** Of the console. */
  readonly origin: string;
  /** Opens an address of the console in a new tab, signed in as that role. */
  open(context: BrowserContext, role: Role, path?: string): Promise<Page>;
}

/** Names by which a browser reaches the services and the console; if they differ, the console has a host of its own. */
export interface ConsoleHosts {
  readonly service: string;
  readonly console: string;
}

const oneHost: ConsoleHosts = { service: '127.0.0.1', console: '127.0.0.1' };

/** Starts it on the port of its `base_url`, as a browser needs it. */
export async function startConsole(
  t: Test,
  { hosts = oneHost, config = {} }: { readonly hosts?: ConsoleHosts; readonly config?: object } = {},
): Promise<ConsoleGateway> {
  let started: TestGateway | undefined;
  const hasOwnHost = hosts.service !== hosts.console;
  const port = await onFreePort(async (port) => {
    started = await startTestGateway(t, {
      config: {
        base_url: `http://${hosts.service}:${port}`,
        listen: { port },
        web: {
          title: 'Orders',
          console: hasOwnHost ? { base_url: `http://${hosts.console}:${port}` } : {},
        },
        endpoints: { users: 'own' },
        ...config,
      },
    });
  });
  const gateway = started!;
  const origin = `http://${hosts.console}:${port}`;
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

/** Some of everything: a scope set, a user who has it, 60 keys. */
export async function addSome({ api }: ConsoleGateway): Promise<void> {
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const set = await api.send({
    method: 'POST',
    path: `${api.apiPath}/admin/scope-sets/`,
    bearer,
    json: { name: 'readers', description: 'Read everything', scopes: ['store:read'] },
  });
  await api.send({
    method: 'POST',
    path: `${api.apiPath}/admin/users/`,
    bearer,
    json: {
      username: 'grace',
      display_name: 'Grace Hopper',
      email: 'grace@example.com',
      scope_sets: [set.json.id],
    },
  });
  for (let index = 0; index < 60; index++)
    await api.mintKey(bearer, { label: `export ${index}`, scopes: ['store:read'] });
}

/** Adds so many keys, users, sessions and audit events, where there is one of each already. */
export function addMany({ folder }: ConsoleGateway, count: number): void {
  const records = join(folder, 'records.db');
  const id = 'lower(hex(randomblob(16)))';
  const earlier = '"created" - n * 1000';
  cloneNewestRow(records, {
    table: 'api_keys',
    newestBy: 'created',
    count,
    changed: { id, hash: 'randomblob(32)', label: `printf('key %06d', n)`, created: earlier },
  });
  const username = `printf('zz user %06d', n)`;
  cloneNewestRow(records, {
    table: 'users',
    newestBy: 'created',
    count,
    changed: { id, username, canonical_name: username, created: earlier },
  });
  cloneNewestRow(join(folder, 'sessions.db'), {
    table: 'sessions',
    newestBy: 'created',
    count,
    changed: { id, created: earlier, last_used: '"last_used" - n * 1000' },
  });
  const seq = greatest(records, 'audit_state', 'seq');
  cloneNewestRow(records, {
    table: 'audit',
    newestBy: 'seq',
    count,
    changed: { id, seq: `${seq} + n`, target_id: id },
  });
  setNumber(records, 'audit_state', 'seq', seq + count);
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
