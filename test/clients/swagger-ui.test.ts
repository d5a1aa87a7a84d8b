import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import t from 'tap';
import { openApiDocument } from '../../src/openapi/document.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { packageFile, requireTools } from './client-tools.ts';

const page = `<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="swagger-ui.css"><div id="ui"></div>
<script src="swagger-ui-bundle.js"></script>
<script>SwaggerUIBundle({ url: 'openapi.json', dom_id: '#ui' })</script>`;

/** What the upstream serves under a public route: Swagger UI as it comes, given nothing but the document. */
function serve(name: string, response: ServerResponse): void {
  if (name === 'openapi.json') response.end(JSON.stringify(openApiDocument()));
  else if (name === '') response.setHeader('Content-Type', 'text/html').end(page);
  else {
    response.setHeader('Content-Type', name.endsWith('.css') ? 'text/css' : 'text/javascript');
    response.end(readFileSync(packageFile(`swagger-ui-dist/${name}`)));
  }
}

async function signIn(ui: Page): Promise<void> {
  await ui.click('.auth-wrapper .authorize');
  const scheme = ui.locator('.auth-container', { has: ui.locator('#oauth_username') });
  await scheme.locator('#oauth_username').fill(administrator.username);
  await scheme.locator('#oauth_password').fill(administrator.password);
  await scheme.locator('button.authorize').click();
  await ui.locator('.auth-container button', { hasText: 'Logout' }).waitFor();
  await ui.click('.dialog-ux .close-modal');
}

t.setTimeout(600_000);

t.test('Swagger UI signs in and calls an operation from the document alone', async (t) => {
  if (!requireTools(t, packageFile('swagger-ui-dist/swagger-ui-bundle.js'))) return;
  const context = await openBrowser(t);
  if (context === null) return;
  const { api, port, upstream } = await startTestGateway(t);
  await api.activate(administrator.username, administrator.password, bootstrapToken);
  upstream.response = ({ url }, response) => serve(url!.slice('/api/open/'.length), response);

  const ui = await context.newPage();
  await ui.goto(`http://127.0.0.1:${port}/api/open/`);
  await signIn(ui);

  await ui.click('#operations-ApiKeys-ApiKeys-Scopes .opblock-summary-control');
  await ui.click('#operations-ApiKeys-ApiKeys-Scopes .try-out__btn');
  const called = ui.waitForResponse(/api-keys\/scopes(?:\?|$)/);
  await ui.click('#operations-ApiKeys-ApiKeys-Scopes .execute');
  const response = await called;
  t.match(await response.request().allHeaders(), { authorization: /^Bearer eyJ/ });
  t.equal(response.status(), 200);
  t.ok((await response.json()).includes('apikeys:write'));
});
