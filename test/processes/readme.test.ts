import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { createHttpBrowser } from '../support/clients/http-browser.ts';
import { eventually } from '../support/eventually.ts';
import { navigation, ownForm } from '../support/pages/web.ts';
import { createMachine, releasedArchive } from '../support/programs/machine.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const flags = readFileSync(join(root, 'docs/from-oauth2-proxy.md'), 'utf8');
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text]) => text!);
t.setTimeout(280_000);

const password = 'correct horse battery staple';

t.test('the first screen of the README leads to a protected service and a key', async (t) => {
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  const port = guessPort();
  const machine = createMachine(
    t,
    { 9000: Number(new URL(upstream.url).port), 8080: port },
    { archive: releasedArchive(t) },
  );
  machine.makeArchive('postern-0.1.0-linux-x64');
  const [serve = '', mint = ''] = blocks('sh');

  const { printed } = machine.start(`${serve.trim()} --listen ${port}`);
  await eventually('it serves', () => /Open it in a browser: \S+/.test(printed()));
  const [, address = ''] = /Open it in a browser: (\S+)/.exec(printed())!;
  const { pathname, hash, origin } = new URL(address);
  const browser = createHttpBrowser();
  const form = { token: hash.slice('#token='.length), username: 'me', password };
  const activated = await browser.send(`${origin}${pathname}`, { form, headers: ownForm });
  t.match(activated.status, /^(?:200|303)$/, activated.text);
  const signedIn = await browser.send(`${origin}/postern/sign-in`, {
    form: { username: 'me', password, return_to: '/' },
    headers: ownForm,
  });
  t.equal(signedIn.status, 303, signedIn.text);
  t.equal((await browser.send(`${origin}/`, { headers: navigation })).status, 200);
  t.strictSame(upstream.seen.at(-1)!.values('x-auth-username'), ['me']);

  const called = await machine.run(mint, { folder: 'postern-0.1.0-linux-x64' });
  t.match(called, '{"ok":true}');
  t.strictSame(upstream.seen.at(-1)!.values('x-auth-username'), ['robot']);
  t.strictSame(upstream.seen.at(-1)!.values('x-auth-method'), ['api_key']);
});

for (const [file, text] of Object.entries({ 'README.md': readme, 'docs/from-oauth2-proxy.md': flags }))
  t.test(`the configuration of ${file} is one`, async (t) => {
    const machine = createMachine(t, {});
    const config = join(machine.folder, 'postern.yaml');
    const quickstart = parse(readFileSync(join(root, 'config/quickstart.yaml'), 'utf8'));
    const [, block = ''] = /^```yaml\n([\s\S]*?)^```/m.exec(text)!;
    writeFileSync(config, stringify({ ...quickstart, ...parse(block) }));
    const { problems, warnings = [] } = loadConfig(config, {});
    t.strictSame(problems, undefined);
    t.strictSame(
      warnings.filter(({ key }) => key !== 'web.console'),
      [],
    );
  });
