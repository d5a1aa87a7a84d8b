import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { startApplication } from './application.ts';
import { fromDebian } from './installed.ts';

t.setTimeout(300_000);

/** Writes an image of one layer, as an OCI layout. */
function writeImage(folder: string): void {
  const blobs = join(folder, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const blob = (content: Buffer | object, mediaType: string) => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    const digest = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(blobs, digest), bytes);
    return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
  };
  const tar = Buffer.alloc(1024);
  const layer = blob(gzipSync(tar), 'application/vnd.oci.image.layer.v1.tar+gzip');
  const diffId = `sha256:${createHash('sha256').update(tar).digest('hex')}`;
  const config = blob(
    { architecture: 'amd64', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [diffId] } },
    'application/vnd.oci.image.config.v1+json',
  );
  const type = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = blob({ schemaVersion: 2, mediaType: type, config, layers: [layer] }, type);
  writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [manifest] }));
}

t.test('a Docker registry: skopeo pushes and pulls with a key as its password', async (t) => {
  const application = await startApplication(t, {
    recipe: 'Docker registry',
    needs: [fromDebian('docker-registry'), fromDebian('skopeo')],
    readyPath: '/v2/',
    command({ folder, port }) {
      const settings = `version: 0.1
storage: { filesystem: { rootdirectory: ${join(folder, 'images')} } }
http: { addr: 127.0.0.1:${port} }
`;
      writeFileSync(join(folder, 'config.yml'), settings);
      return [fromDebian('docker-registry'), 'serve', join(folder, 'config.yml')];
    },
  });
  if (application === null) return;
  const { origin, key, run, clients, mintKey } = application;
  writeImage(join(clients, 'image'));
  const there = `docker://${new URL(origin).host}/team/tool:1`;
  const push = (password: string) =>
    run([
      ...([fromDebian('skopeo'), 'copy', '--insecure-policy', '--dest-tls-verify=false'] as const),
      ...['--dest-creds', `any:${password}`, `oci:${join(clients, 'image')}`, there],
    ]);
  const inspect = (password: string) =>
    run([fromDebian('skopeo'), 'inspect', '--tls-verify=false', '--creds', `any:${password}`, there]);
  const reader = await mintKey(['images:read']);
  t.match(await push(reader), { code: 1, printed: /403|denied/i }, 'a key to pull with does not push');
  const pushed = await push(key);
  t.equal(pushed.code, 0, pushed.printed);
  const inspected = await inspect(reader);
  t.equal(inspected.code, 0, inspected.printed);
  t.match(JSON.parse(inspected.printed), { Architecture: 'amd64', Layers: [/^sha256:/] });
  t.match(await inspect('guessed'), { code: 1, printed: /unauthorized|401|authentication/i });

  const login = await run(
    [
      fromDebian('skopeo'),
      'login',
      '--tls-verify=false',
      '--authfile',
      'auth.json',
      '-u',
      'any',
      '--password-stdin',
      new URL(origin).host,
    ],
    { input: reader },
  );
  t.match(login, { code: 0, printed: /Login Succeeded/ });
  t.match(
    await run([fromDebian('skopeo'), 'inspect', '--tls-verify=false', '--authfile', 'auth.json', there]),
    { code: 0 },
  );
});
