import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromPyPI, npmFile } from './installed.ts';

t.setTimeout(300_000);

/** Has Swagger UI send the request of an operation; the status of its response. */
async function execute(page: Page, operation: string): Promise<string> {
  const block = page.locator(`[id$="-${operation}"]`);
  await block.locator('.opblock-summary-control').click();
  await block.locator('button', { hasText: 'Try it out' }).click();
  await block.locator('button.execute').click();
  const status = await block.locator('.live-responses-table .response-col_status').nth(1).textContent();
  return status!.trim();
}

t.test('Swagger UI of a FastAPI service: Authorize sends the service’s own token and key', async (t) => {
  const application = await startApplication(t, {
    recipe: 'FastAPI and Swagger UI',
    needs: [fromPyPI('uvicorn'), npmFile('swagger-ui-dist/swagger-ui-bundle.js')],
    readyPath: '/openapi.json',
    command: ({ port }) => [
      fromPyPI('python'),
      join(import.meta.dirname, 'programs/documented_api.py'),
      `${port}`,
      npmFile('swagger-ui-dist'),
    ],
  });
  if (application === null) return;
  const { key, origin } = application;
  const browsing = await browse(t, application, '/docs');
  if (browsing === null) return;
  const { page } = browsing;
  await page.locator('button.authorize').click();
  const dialog = page.locator('.modal-ux');
  await dialog.locator('input').nth(0).fill('token-of-the-application');
  await dialog.locator('input').nth(1).fill('key-of-the-application');
  // A button that was clicked says Logout.
  for (const _ of [1, 2]) await dialog.locator('button.authorize').first().click();
  await dialog.locator('button.btn-done').first().click();
  t.equal(await execute(page, 'items'), '200');
  t.equal(await execute(page, 'more'), '200');

  // A program with both, and the service's own login at a path that is Postern's unless it is moved.
  const login = await fetch(`${origin}/api/login`, { method: 'POST', headers: { 'X-API-Key': key } });
  const { token } = (await login.json()) as { token: string };
  const both = { 'X-API-Key': key, Authorization: `Bearer ${token}` };
  t.strictSame(await (await fetch(`${origin}/api/items`, { headers: both })).json(), ['tea']);
  const own = { Authorization: `Bearer ${token}` };
  t.equal((await fetch(`${origin}/api/items`, { headers: own })).status, 401, 'its own alone does not pass');
});
