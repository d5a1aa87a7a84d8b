import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { compiled, davfs, fromDebian, fuse } from './installed.ts';

t.setTimeout(300_000);

/** Names that end a path, or are decoded to something else, for a server or client that reads them carelessly. */
const names = ['C# notes.txt', 'what?.txt', 'a;b.txt', '50%25.txt', 'Zoë #1?.txt'];

const kinds = {
  rclone: {
    needs: [fromDebian('rclone'), fromDebian('cadaver')],
    command: (files: string, port: number) =>
      [fromDebian('rclone'), 'serve', 'webdav', files, '--addr', `127.0.0.1:${port}`] as const,
  },
  dufs: {
    needs: [compiled('dufs'), fromDebian('rclone'), fromDebian('cadaver')],
    command: (files: string, port: number) =>
      [compiled('dufs'), files, '-A', '-b', '127.0.0.1', '-p', `${port}`] as const,
  },
} as const;

async function start(t: Test, kind: keyof typeof kinds, more: readonly string[] = []) {
  let files = '';
  const { needs, command } = kinds[kind];
  const application = await startApplication(t, {
    recipe: 'WebDAV',
    needs: [...needs, ...more],
    command({ folder, port }) {
      files = join(folder, 'files');
      mkdirSync(files);
      for (const name of names) writeFileSync(join(files, name), `in ${name}`);
      return command(files, port);
    },
  });
  return application && { ...application, file: (name: string) => readFileSync(join(files, name), 'utf8') };
}

for (const kind of ['rclone', 'dufs'] as const)
  t.test(`${kind}: programs that know user and password alone, names with #, ?, ; and %`, async (t) => {
    const application = await start(t, kind);
    if (application === null) return;
    const { origin, key, run, clients, file } = application;
    const obscured = await run([fromDebian('rclone'), 'obscure', key]);
    const remote = {
      RCLONE_LOG_LEVEL: 'ERROR',
      RCLONE_CONFIG_DAV_TYPE: 'webdav',
      RCLONE_CONFIG_DAV_URL: origin,
      RCLONE_CONFIG_DAV_VENDOR: 'other',
      RCLONE_CONFIG_DAV_USER: 'any',
      RCLONE_CONFIG_DAV_PASS: obscured.printed.trim(),
    };
    const rclone = (...args: string[]) => run([fromDebian('rclone'), ...args], { env: remote });
    const listed = await rclone('lsf', 'dav:');
    t.strictSame(listed.printed.trim().split('\n').sort(), [...names].sort());
    for (const name of names) t.equal((await rclone('cat', `dav:${name}`)).printed, `in ${name}`, name);
    mkdirSync(join(clients, 'own'));
    for (const name of names) writeFileSync(join(clients, 'own', name), `sent as ${name}`);
    t.match(await rclone('copy', 'own', 'dav:sent'), { code: 0 });
    for (const name of names) t.equal(file(`sent/${name}`), `sent as ${name}`, name);
    t.match(await rclone('check', '--download', 'own', 'dav:sent'), { code: 0 });
    writeFileSync(join(clients, 'issue'), 'of a bug');
    t.match(await rclone('copyto', 'issue', 'dav:Issue #12.bin'), { code: 0 });
    t.equal(file('Issue #12.bin'), 'of a bug');
    t.match(await rclone('moveto', 'dav:what?.txt', 'dav:why?.txt'), { code: 0 }, 'Destination as well');
    t.equal(file('why?.txt'), 'in what?.txt');

    const host = new URL(origin).hostname;
    writeFileSync(join(clients, '.netrc'), `machine ${host}\nlogin any\npassword ${key}\n`, {
      mode: 0o600,
    });
    const each = names.map((name, index) => [name === 'what?.txt' ? 'why?.txt' : name, index] as const);
    const transfers = each.flatMap(([name, index]) => [
      `get "${name}" got-${index}.txt`,
      `put issue "new ${name}"`,
    ]);
    const input = `${['ls', ...transfers, 'mkcol "a;b"', 'quit'].join('\n')}\n`;
    const { printed } = await run([fromDebian('cadaver'), `${origin}/`], { input });
    t.match(printed, /C# notes\.txt/, 'cadaver sends its password once it has been asked for it');
    for (const [name, index] of each) {
      t.equal(readFileSync(join(clients, `got-${index}.txt`), 'utf8'), `in ${names[index]}`, name);
      t.equal(file(`new ${name}`), 'of a bug');
    }

    const wrong = await run(
      [fromDebian('rclone'), 'lsf', 'dav:', '--retries', '1', '--low-level-retries', '1'],
      {
        env: {
          ...remote,
          RCLONE_CONFIG_DAV_PASS: (await run([fromDebian('rclone'), 'obscure', 'guessed'])).printed.trim(),
        },
      },
    );
    t.match(wrong, { code: /[1-9]/, printed: /401/ });
  });

t.test('dufs in a browser: every link of the listing leads to its file', async (t) => {
  const application = await start(t, 'dufs');
  if (application === null) return;
  const browsing = await browse(t, application, '/');
  if (browsing === null) return;
  const { page, fetched } = browsing;
  await page.locator('text=C# notes.txt').waitFor();
  const links = await page.evaluate<string[]>(
    `[...document.querySelectorAll('table a')]
      .filter(({ textContent }) => ${JSON.stringify(names)}.includes(textContent))
      .map((link) => link.getAttribute('href'))`,
  );
  t.equal(links.length, names.length);
  const contents = await Promise.all(links.map(async (link) => (await fetched(link)).text));
  t.strictSame(contents.sort(), names.map((name) => `in ${name}`).sort());

  const chosen = names.map((name) => ({
    name: `new ${name}`,
    mimeType: 'text/plain',
    buffer: Buffer.from(`sent as ${name}`),
  }));
  await page.setInputFiles('#file', chosen);
  await eventually('the uploads are there', () =>
    names.every((name) => application.file(`new ${name}`) === `sent as ${name}`),
  );
});

t.test('davfs2: every name is opened in a mounted folder, and new ones are taken', async (t) => {
  const application = await start(t, 'rclone', [davfs, fuse]);
  if (application === null) return;
  const { origin, key, run, clients, file } = application;
  for (const folder of ['mounted', 'cache', 'own', 'etc']) mkdirSync(join(clients, folder));
  for (const name of names) writeFileSync(join(clients, 'own', name), `sent as ${name}`);
  writeFileSync(join(clients, 'etc/secrets'), `${origin}/ any "${key}"\n`, { mode: 0o600 });
  const settings = ['dav_user root', 'dav_group root', 'ask_auth 0', `cache_dir ${join(clients, 'cache')}`];
  writeFileSync(join(clients, 'etc/davfs2.conf'), `${settings.join('\n')}\n`);
  const left = names.filter((name) => name !== 'what?.txt');
  // In a namespace of its own, so that nothing stays mounted. Files are opened by name: on newer kernels davfs2 1.6 can't list.
  const script = `set -e
    mount --bind etc /etc/davfs2
    ${davfs} ${origin}/ mounted
    trap 'umount mounted' EXIT
    mkdir 'mounted/C# a;b'
    cp own/* 'mounted/C# a;b'
    mv 'mounted/what?.txt' 'mounted/why #1?.txt'
    for name in ${left.map((name) => `'${name}'`).join(' ')}; do grep -H '' "mounted/$name"; done`;
  const { code, printed } = await run(['unshare', '--mount', 'bash', '-c', script]);
  t.equal(code, 0, printed);
  for (const name of left) t.match(printed, `${name}:in ${name}`);
  for (const name of names) t.equal(file(`C# a;b/${name}`), `sent as ${name}`, name);
  t.equal(file('why #1?.txt'), 'in what?.txt');
});
