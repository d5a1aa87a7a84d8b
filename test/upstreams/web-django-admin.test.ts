import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { djangoAdmin, startWebApplication } from './web-application.ts';

t.setTimeout(300_000);

t.test('Django’s administration site: no sign-in of its own, forms that it guards itself', async (t) => {
  const application = await startWebApplication(t, djangoAdmin, { 'Remote-User': 'username' });
  if (application === undefined) return;
  const { page, origin } = application;
  await application.openSignedIn('/admin/auth/group/add/');
  t.equal(page.url(), `${origin}/admin/auth/group/add/`, 'signed in once, at Postern');
  t.match(await page.textContent('#user-tools'), administrator.username);
  await page.fill('[name=name]', 'Librarians');
  await page.click('[name=_save]');
  t.match(await page.textContent('.messagelist'), /Librarians.*added successfully/);
  await page.click('#result_list >> text=Librarians');
  await page.fill('[name=name]', 'Archivists');
  await page.click('[name=_save]');
  t.match(await page.textContent('#result_list'), 'Archivists');

  await page.click('text=Add group');
  await page.fill('[name=name]', 'Too late');
  await application.signOut();
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST'),
    page.click('[name=_save]'),
  ]);
  t.equal(answer.status(), 401, 'a form that is sent after the end changes nothing');
  t.match(await page.textContent('main'), 'Sign in');
  await application.openSignedIn('/admin/auth/group/');
  t.notMatch(await page.textContent('#result_list'), 'Too late');
  t.match(await page.textContent('#result_list'), 'Archivists');
});
