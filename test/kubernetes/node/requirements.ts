import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statfsSync } from 'node:fs';
import { definitionsFolder } from './definitions.ts';
import { cacheFolder, hyperkube } from './folders.ts';

const programs = [
  'bash',
  'buildah',
  'conntrack',
  'containerd',
  'ctr',
  'curl',
  'flock',
  'gcc',
  'ip',
  'iptables',
  'openssl',
  'redis-server',
  'runc',
  'unshare',
];
const pluginFolders = ['/usr/lib/cni', '/opt/cni/bin'];
const overlayFileSystem = 0x794c7630;

/** Where the network plugins are, if they are installed. */
export const pluginFolder = pluginFolders.find((folder) => existsSync(`${folder}/bridge`));

/** What this machine lacks to be a Kubernetes node; empty if nothing. */
export function missingRequirements(): string[] {
  if (process.platform !== 'linux' || process.arch !== 'x64') return ['Linux on x64'];
  if (process.getuid?.() !== 0) return ['root'];
  const missing = programs.filter((name) => !isInstalled(name));
  if (pluginFolder === undefined) missing.push(`the network plugins (${pluginFolders.join(' or ')})`);
  if (!(existsSync(hyperkube) && existsSync(definitionsFolder)) && !isInstalled('go')) missing.push('go');
  const namespaces = ['--net', '--mount', '--pid', '--fork', 'true'];
  if (spawnSync('unshare', namespaces).status !== 0) missing.push('the right to create namespaces');
  mkdirSync(cacheFolder, { recursive: true });
  if (statfsSync(cacheFolder).type === overlayFileSystem)
    missing.push(`a file system other than overlayfs at ${cacheFolder}`);
  return missing;
}

function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
}
