import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import {
  base,
  createHostBrowser,
  hiddenFields,
  leadsTo,
  notes,
  startHostsGateway,
  wiki,
} from '../support/pages/hosts.ts';

t.test('while the session store is locked, enter is 503 and spends nothing', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  const start = await browser.send(`${notes}/postern/start?return_to=/x`);
  const enterAt = (await browser.send(leadsTo(start)!)).headers.location!;
  const unseen = createHostBrowser(gateway);
  const page = await unseen.open(`${notes}/y`);

  const other = new Database(join(gateway.folder, 'sessions.db'));
  t.teardown(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const refused = await browser.send(enterAt);
  t.match(refused, {
    status: 503,
    headers: { 'retry-after': /^\d+$/, 'content-type': /^text\/html/, 'referrer-policy': 'no-referrer' },
    setCookies: [],
    text: /Not available at the moment/,
  });
  t.match(await browser.send(`${wiki}/`), { status: 200 }, 'who is in stays in');
  t.match(await unseen.send(`${notes}/postern/start`), { status: 200 }, 'a start needs no store');
  const form = { ...hiddenFields(page.text), ...administrator };
  const signIn = await unseen.send(`${base}/postern/sign-in`, { form });
  t.match(signIn, { status: 503, setCookies: [], text: /Signing in is not possible/ });
  t.strictSame(hiddenFields(signIn.text), hiddenFields(page.text), 'and the host is not forgotten');

  other.exec('ROLLBACK');
  t.match(await browser.open(enterAt), { status: 200, url: `${notes}/x` }, 'the same code is good');
  t.match(await unseen.open(`${base}/postern/sign-in`, { form }), { status: 200, url: `${notes}/y` });
});
