import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startApplication } from './application.ts';
import { fromPyPI } from './installed.ts';
import { collections, event, radicale } from './radicale.ts';

t.setTimeout(300_000);

t.test('Radicale: a calendar is kept in step by a program that knows user and password alone', async (t) => {
  const needs = [...radicale.needs, fromPyPI('vdirsyncer')];
  const application = await startApplication(t, { ...radicale, needs });
  if (application === null) return;
  const { origin, key, run, clients, folder } = application;
  const settings = (folder: string) => `[general]
status_path = "${folder}-status"
[pair calendars]
a = "here"
b = "there"
collections = ["tea"]
[storage here]
type = "filesystem"
path = "${folder}"
fileext = ".ics"
[storage there]
type = "caldav"
url = "${origin}/"
username = "any"
password = "${key}"
`;
  /** Synchronises a folder with the server, as a device that has not been there before. */
  const synchronise = async (folder: string) => {
    mkdirSync(join(clients, folder, 'tea'), { recursive: true });
    writeFileSync(join(clients, `${folder}.conf`), settings(join(clients, folder)));
    const command = (name: string) => [fromPyPI('vdirsyncer'), '-c', `${folder}.conf`, name] as const;
    const discovered = await run(command('discover'), { input: 'y\ny\ny\n' });
    t.equal(discovered.code, 0, discovered.printed);
    const synchronised = await run(command('sync'));
    t.equal(synchronised.code, 0, synchronised.printed);
  };
  mkdirSync(join(clients, 'laptop/tea'), { recursive: true });
  writeFileSync(join(clients, 'laptop/tea/tea.ics'), event);
  await synchronise('laptop');
  t.ok(existsSync(join(folder, collections, 'ada/tea')), 'in the folder of the owner of the key');
  await synchronise('telephone');
  const [arrived] = globSync(join(clients, 'telephone/tea/*.ics'));
  t.match(readFileSync(arrived!, 'utf8'), "SUMMARY:Tea at Zoë's");

  const curl = (...args: string[]) =>
    run(['curl', '-s', '-o', 'body', '-w', '%{http_code}', ...args, `${origin}/ada/`]);
  const listing = ['-X', 'PROPFIND', '-H', 'Depth: 0'];
  t.match(
    await curl(...listing, '--anyauth', '-u', `any:${key}`),
    { printed: '207' },
    'asked for a password first',
  );
  t.match(await curl(...listing, '--anyauth', '-u', 'ada:guessed'), { printed: '401' });
  t.match(await curl(...listing, '-H', 'X-Remote-User: ada'), { printed: '401' });
  t.notMatch(application.sent(), /^X-Remote-User: (?!ada\r)/im);
});
