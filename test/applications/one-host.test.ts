import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type ApplicationProgram, type RunningApplication, startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { compiled, fromDebian, requireInstalled } from './installed.ts';

t.setTimeout(300_000);

const names = ['C# notes.txt', 'what?.txt', 'a;b.txt', '50%25.txt', 'Zoë #1?.txt'];
const loopback = (port: number) => `127.0.0.1:${port}`;

function makeFiles(folder: string): string {
  const files = join(folder, 'files');
  mkdirSync(files);
  for (const name of names) writeFileSync(join(files, name), `in ${name}`);
  return files;
}

/** It knows nothing of `/store`; the links of its pages are relative. */
const rclone: ApplicationProgram['command'] = ({ folder, port }) => [
  fromDebian('rclone'),
  ...['serve', 'http', makeFiles(folder), '--addr', loopback(port)],
];

const dufs: ApplicationProgram = {
  readyPath: '/files/',
  command: ({ folder, port }) => [
    compiled('dufs'),
    ...[makeFiles(folder), '-A', '-b', '127.0.0.1', '-p', `${port}`, '--path-prefix', '/files'],
  ],
};

const prometheus: ApplicationProgram = {
  readyPath: '/prometheus/-/ready',
  command({ folder, port, origin }) {
    writeFileSync(join(folder, 'prometheus.yml'), '');
    return [
      ...([fromDebian('prometheus'), '--config.file=prometheus.yml', '--storage.tsdb.path=data'] as const),
      ...[`--web.listen-address=${loopback(port)}`, '--web.route-prefix=/prometheus'],
      `--web.external-url=${origin}/metrics`,
    ];
  },
};

/** Programs reach each below its prefix, and nothing without one. */
async function judgePrograms(t: Test, { origin, key }: RunningApplication): Promise<void> {
  const get = async (path: string) => {
    const response = await fetch(`${origin}${path}`, { headers: { 'X-API-Key': key } });
    return [response.status, await response.text()];
  };
  for (const name of names)
    t.strictSame(await get(`/store/${encodeURIComponent(name)}`), [200, `in ${name}`], name);
  t.match(await get('/metrics/api/v1/query?query=1'), [200, /"success"/]);
  for (const path of ['/prometheus/-/ready', '/', '/stores/', '/notes.txt'])
    t.equal((await get(path))[0], 404, `${path} has no route`);
}

/** WebDAV of dufs, whose responses name the files by their whole paths. */
async function judgeDufs(t: Test, { origin, key, run }: RunningApplication): Promise<void> {
  const obscured = await run([fromDebian('rclone'), 'obscure', key]);
  const env = {
    RCLONE_LOG_LEVEL: 'ERROR',
    RCLONE_CONFIG_DAV_TYPE: 'webdav',
    RCLONE_CONFIG_DAV_URL: `${origin}/files`,
    RCLONE_CONFIG_DAV_VENDOR: 'other',
    RCLONE_CONFIG_DAV_USER: 'any',
    RCLONE_CONFIG_DAV_PASS: obscured.printed.trim(),
  };
  const client = (...args: string[]) => run([fromDebian('rclone'), ...args], { env });
  const listed = await client('lsf', 'dav:');
  t.strictSame(listed.printed.trim().split('\n').sort(), [...names].sort());
  t.match(await client('moveto', 'dav:what?.txt', 'dav:why #1?.txt'), { code: 0 });
  t.equal((await client('cat', 'dav:why #1?.txt')).printed, 'in what?.txt');
}

/** One sign-in, and one sign-out, is for all; the links of each page lead on. */
async function judgePeople(t: Test, application: RunningApplication, hasDufs: boolean): Promise<void> {
  const browsing = await browse(t, application, '/metrics/classic/graph?g0.expr=up&g0.tab=1');
  if (browsing === null) return;
  const { page, fetched, signOut } = browsing;
  await page.locator('#graph_container').waitFor();
  for (const path of hasDufs ? ['/store/', '/files/'] : ['/store/']) {
    await page.goto(`${application.origin}${path}`);
    for (const name of ['C# notes.txt', 'a;b.txt', '50%25.txt']) {
      const link = (await page.locator('a', { hasText: name }).first().getAttribute('href'))!;
      t.equal((await fetched(new URL(link, page.url()).href)).text, `in ${name}`, link);
    }
  }
  await signOut();
  for (const path of ['/store/', '/metrics/graph', '/files/'])
    t.equal((await fetched(path)).status, 401, path);
}

t.test('dufs, rclone and Prometheus below prefixes of one host', async (t) => {
  const hasDufs = existsSync(compiled('dufs'));
  const application = await startApplication(t, {
    recipe: 'dufs below',
    needs: [fromDebian('rclone'), fromDebian('prometheus')],
    command: rclone,
    beside: { metrics: prometheus, files: hasDufs ? dufs : null },
  });
  if (application === null) return;
  await judgePrograms(t, application);
  if (requireInstalled(t, [compiled('dufs')])) await judgeDufs(t, application);
  await judgePeople(t, application, hasDufs);
  t.match(application.sent(), /^X-Forwarded-Prefix: \/store\r/im);
  t.match(application.sent(), /^X-Forwarded-Prefix: \/metrics\r/im);
  t.notMatch(application.sent(), /^X-Forwarded-Prefix: \/files\r/im);
});
