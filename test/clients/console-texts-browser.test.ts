import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { type ConsoleGateway, settled, startConsole } from '../support/pages/console.ts';
import { complaintsOf } from '../support/pages/page-judge.ts';
import { directionProblems } from '../support/pages/text-directions.ts';
import { cloneNewestRow } from '../support/stores/cloned-rows.ts';

t.setTimeout(600_000);

/** Each a text of which `mark` is a part, so that it can be found wherever it is shown. */
const mark = 'evil';
const turning = {
  'an override': `\u202e${mark} reversed`,
  'an embedding': `\u202b${mark} embedded`,
  'an isolate that never ends': `\u2067${mark} isolated`,
  'an end of the isolate around it': `\u2069\u202e${mark} freed`,
  'ends of several': `\u202c\u2069\u2069\u202e${mark} freed twice`,
  'a paragraph separator': `${mark}\u2029\u202enext`,
  'a name from right to left': `محمد ${mark} العربي`,
} as const;

interface Made {
  readonly users: readonly string[];
  readonly sets: readonly string[];
}

/** Keys, users and sets that are called so, and sessions whose user agent is that. */
async function addTurning(gateway: ConsoleGateway): Promise<Made> {
  const { accessToken: bearer } = await gateway.api.signIn(administrator.username, administrator.password);
  const make = async (path: string, json: object): Promise<string> => {
    const { status, json: made, text } = await gateway.api.send({ method: 'POST', path, bearer, json });
    if (status !== 201) throw new Error(`${status} ${text}`);
    return made.id;
  };
  const users: string[] = [];
  const sets: string[] = [];
  for (const text of Object.values(turning)) {
    const set = await make('/api/admin/scope-sets/', {
      name: text,
      description: text.replace('\u2029', ''),
      scopes: ['store:read', 'store:write'],
    });
    sets.push(set);
    const user = await make('/api/admin/users/', {
      username: text,
      display_name: text,
      scope_sets: [set, 'administrator'],
      password: administrator.password,
    });
    users.push(user);
    await make('/api/admin/api-keys/', { label: text, scopes: ['store:read'], scope_sets: [set] });
    await make(`/api/admin/users/${user}/api-keys`, { label: text, scopes: ['store:read'] });
  }
  const agents = JSON.stringify(Object.values(turning)).replaceAll("'", "''");
  cloneNewestRow(join(gateway.folder, 'sessions.db'), {
    table: 'sessions',
    newestBy: 'created',
    count: Object.keys(turning).length,
    changed: {
      id: 'lower(hex(randomblob(16)))',
      user_agent: `json_extract('${agents}', '$[' || (n - 1) || ']')`,
      created: '"created" - n * 1000',
    },
  });
  return { users, sets };
}

async function start(t: Test): Promise<{ gateway: ConsoleGateway; page: Page; made: Made } | null> {
  const context = await openBrowser(t);
  if (context === null) return null;
  const staff = { issuer: 'https://staff.example', client_id: 'postern' };
  const gateway = await startConsole(t, { config: { identity_providers: { staff } } });
  const made = await addTurning(gateway);
  const page = await gateway.open(context, 'administrator', 'api-keys');
  return { gateway, page, made };
}

t.test('a text that turns shows what is beside it as it is', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { gateway, page, made } = stage;
  const complaints = complaintsOf(page);
  const judge = async (t: Test, what: string) => {
    t.strictSame(await directionProblems(page, mark), [], what);
    t.ok((await page.innerText('#console')).includes(mark), `${what}: it is there to be judged`);
  };
  const goTo = async (path: string) => {
    await page.goto(`${gateway.origin}/postern/console/${path}`);
    await settled(page);
  };
  const close = async () => {
    await page.click('dialog >> text=/Cancel|Done|copied/');
    await page.waitForSelector('dialog', { state: 'detached' });
  };

  for (const list of ['api-keys', 'users', 'scope-sets', 'sessions', 'audit']) {
    await goTo(list);
    // Names of the audit come after its rows.
    await page.waitForSelector(`main td >> text=${mark}`);
    await judge(t, list);
  }
  await goTo('audit?event__eq=user_created');
  await page.waitForSelector(`main td >> text=/the set .*${mark}/`);
  await judge(t, 'audit, with sets');
  await goTo('sessions');
  await page.locator('tr', { hasText: mark }).first().getByRole('button').click();
  await judge(t, 'end a session');
  await goTo('api-keys');
  for (const index of Object.keys(made.users).keys()) {
    await page
      .locator('tbody tr')
      .nth(index * 2)
      .getByRole('button', { name: /^Delete/ })
      .click();
    await judge(t, `delete a key, ${index}`);
    await close();
  }

  for (const [index, [name]] of Object.entries(turning).entries())
    await t.test(name, async (t) => {
      await goTo(`users/${made.users[index]}`);
      await judge(t, 'user');
      for (const action of ['Disable', 'Sign out everywhere', 'Remove', 'Invite to set a password']) {
        await page.click(`#actions ~ .choices >> text=${action}`);
        await page.waitForSelector('dialog');
        await judge(t, action);
        await close();
      }
      await page.click('text=/^New key for/');
      await page.waitForSelector('dialog [value="store:read"]');
      await judge(t, 'new key');
      await page.fill('dialog [name=label]', turning[name as keyof typeof turning]);
      await page.check('dialog [value="store:read"]');
      await page.click('text=Create key');
      await page.waitForSelector('dialog pre');
      gateway.secrets.add((await page.locator('dialog pre').first().textContent()) ?? '');
      await judge(t, 'minted');
      await close();
      await page.click('text=Link an account');
      await page.fill('dialog [name=subject]', `${turning[name as keyof typeof turning]} subject`);
      await judge(t, 'link');
      await page.click('dialog >> text=/^Link account$/');
      await page.waitForSelector('td >> text=subject');
      await judge(t, 'linked');
      await page.click('td >> text=Unlink');
      await judge(t, 'unlink');
      await close();

      await goTo(`scope-sets/${made.sets[index]}`);
      await judge(t, 'set');
      await page.uncheck('[value="store:write"]');
      await page.click('text=Save');
      await page.waitForSelector('[role=alertdialog]');
      await judge(t, 'who loses what');
      await page.click('.heading >> text=Remove');
      await judge(t, 'remove a set');
    });
  t.strictSame(complaints, []);
});

t.test('a refusal shows an entered text as it is', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { gateway, page, made } = stage;
  const taken = turning['an end of the isolate around it'];
  for (const [part, button, field, submit] of [
    ['users', 'New user', 'username', 'Create user'],
    ['scope-sets', 'New set', 'name', 'Create set'],
  ] as const) {
    await page.goto(`${gateway.origin}/postern/console/${part}`);
    await settled(page);
    await page.click(`text=${button}`);
    await page.fill(`dialog [name=${field}]`, taken);
    await page.click(`text=${submit}`);
    await page.waitForSelector('dialog [role=alert]');
    t.strictSame(await directionProblems(page, mark), [], part);
  }
  await page.goto(`${gateway.origin}/postern/console/users`);
  await settled(page);
  await page.fill('[name=scope_sets__contains]', `\u2069\u202e${mark} that is not there`);
  await page.click('text=/^Filter$/');
  t.match(
    await page.textContent('.filter-problem'),
    /^There is no set \u2068\u202eevil that is not there\u2069\.$/,
    'a string has isolates of its own',
  );

  const { accessToken: bearer } = await gateway.api.signIn(administrator.username, administrator.password);
  const [id] = made.users;
  await page.goto(`${gateway.origin}/postern/console/users/${id}`);
  await settled(page);
  const path = `/api/admin/users/${id}`;
  await gateway.api.send({ method: 'PATCH', path, bearer, json: { display_name: taken } });
  await page.fill('[name=email]', 'someone@example.com');
  await page.click('text=Save');
  await page.waitForSelector('text=Someone else has changed');
  t.strictSame(await directionProblems(page, mark), [], 'what someone else has changed');
});

t.test('someone who is called so', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { gateway, page } = stage;
  await page.click('text=Sign out');
  await page.waitForURL(/signed-out/);
  for (const [name, username] of Object.entries(turning)) {
    await page.goto(`${gateway.origin}/postern/console/account`);
    await page.fill('[name=username]', username);
    await page.fill('[name=password]', administrator.password);
    await page.click('main button[type=submit]');
    await settled(page);
    t.match(await page.innerText('.who'), mark);
    t.strictSame(await directionProblems(page, mark), [], name);
    await page.click('text=Sign out');
    await page.waitForURL(/signed-out/);
  }
});
