import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** What the Dockerfile calls while it builds, and `env`, which the shebang of `postern` needs. */
const programs = ['sh', 'env', 'rm', 'mkdir', 'chmod', 'chown', 'ln', 'find'];

/**
 * Makes the folder of a base image out of this machine's own files, for no registry of images is needed: Node and npm, a
 * shell with the few programs that the Dockerfile calls, `more` programs, the libraries of all, certificates and time zones.
 */
export function makeBaseFolder(folder: string, more: readonly string[] = []): void {
  const root = join(folder, 'root');
  const copy = (from: string, to = from) => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    cpSync(realpathSync(from), join(root, to), { recursive: true });
  };

  const node = realpathSync(process.execPath);
  const names = [...programs, ...more];
  const found = names.map((name) => execFileSync('which', [name], { encoding: 'utf8' }).trim());
  for (const [index, name] of names.entries()) copy(found[index]!, `/usr/bin/${name}`);
  copy(node, '/usr/local/bin/node');
  for (const library of librariesOf([node, bundler(), ...found])) copy(library);

  copy(npmFolder(), '/usr/local/lib/node_modules/npm');
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  mkdirSync(join(root, 'bin'), { recursive: true });
  symlinkSync('../usr/bin/sh', join(root, 'bin/sh'));
  for (const path of ['/etc/ssl/certs/ca-certificates.crt', '/usr/share/zoneinfo'])
    if (existsSync(path)) copy(path);
  for (const path of ['tmp', 'root', 'proc', 'dev']) mkdirSync(join(root, path), { recursive: true });
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  writeFileSync(
    join(folder, 'Dockerfile'),
    `FROM scratch
COPY root/ /
ENV PATH=/usr/local/bin:/usr/bin:/bin HOME=/root NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
`,
  );
}

function librariesOf(files: readonly string[]): Set<string> {
  const listed = execFileSync('ldd', files, { encoding: 'utf8' });
  return new Set([...listed.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path]) => path!));
}

/** The addon of the bundler, which `npm run build` loads. */
function bundler(): string {
  const folder = `node_modules/@rolldown/binding-linux-${process.arch}-gnu`;
  return join(folder, readdirSync(folder).find((file) => file.endsWith('.node'))!);
}

function npmFolder(): string {
  const npm = execFileSync('which', ['npm'], { encoding: 'utf8' }).trim();
  return dirname(dirname(realpathSync(npm)));
}
