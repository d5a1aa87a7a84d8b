import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { settingsOf } from '../support/corpora/forged-assertions.ts';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'docs/identity-providers.md'), 'utf8');

/** The recipes by the heading that they stand under. */
const recipes = text
  .split(/^### /m)
  .slice(1)
  .flatMap((section) =>
    [...section.matchAll(/```yaml\n(identity_providers:\n[\s\S]*?)```/g)].map(
      ([, recipe]) => [section.split('\n', 1)[0]!, recipe!] as const,
    ),
  );

/** What a recipe is added to. */
const rest = `tenant: acme
base_url: https://acme.example.com
scopes: { store:read: Read assets }
upstreams: { app: { url: builtin:echo } }
routes: [{ prefix: /, upstream: app }]
`;

/** Every variable that the recipe names has some value. */
function load(t: Test, recipe: string) {
  const folder = mkdtempSync(join(tmpdir(), 'postern-recipe-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'postern.yaml');
  writeFileSync(file, rest + recipe);
  const names = [...recipe.matchAll(/env: (\w+)/g)].map(([, name]) => [name!, 'a secret']);
  return loadConfig(file, Object.fromEntries(names));
}

t.test('there is a recipe for each provider that is promised', async (t) => {
  t.strictSame(
    [...new Set(recipes.map(([provider]) => provider))],
    ['Keycloak', 'Microsoft Entra ID', 'Google', 'Okta', 'Auth0', 'Dex'],
  );
});

for (const [provider, recipe] of recipes)
  t.test(`the recipe for ${provider} is a good configuration`, async (t) => {
    const { config, problems } = load(t, recipe);
    t.strictSame(problems, undefined);
    const [configured] = Object.values(config!.identity_providers);
    t.ok(configured!.grants.length > 0, 'and it grants something');
  });

t.test('every option is in the table, and nothing else', async (t) => {
  const options = text.slice(text.indexOf('## Options'), text.indexOf('## Recipes'));
  const named = [...options.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  const all = Object.keys(settingsOf({ client_secret: 'secret', title: 'Acme account' }));
  t.strictSame(named.toSorted(), all.toSorted());
});

t.test('the example’s configuration is valid', async (t) => {
  const { problems } = loadConfig(join(root, 'examples/identity-provider/postern.yaml'), {});
  t.strictSame(problems, undefined);
});
