import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An application that the example runs. */
export interface Application {
  readonly name: string;
  /** Starts it in a folder of its own, on a port of 127.0.0.1. `packages`: the folder where npm installed it. */
  command(place: {
    readonly folder: string;
    readonly packages: string;
    readonly port: number;
  }): readonly string[];
}

/** The applications, by the name of their upstream; nothing in them knows of Postern but a header that names the user. */
export const applications: Readonly<Record<string, Application>> = {
  wiki: {
    name: 'TiddlyWiki',
    command({ folder, packages, port }) {
      const tiddlywiki = join(packages, 'tiddlywiki/tiddlywiki.js');
      const wiki = join(folder, 'wiki');
      if (!existsSync(wiki)) spawnSync(process.execPath, [tiddlywiki, wiki, '--init', 'server']);
      const settings = [`port=${port}`, 'host=127.0.0.1', 'authenticated-user-header=x-remote-user'];
      return [
        tiddlywiki,
        wiki,
        '--listen',
        ...settings,
        'readers=(authenticated)',
        'writers=(authenticated)',
      ];
    },
  },
  flows: {
    name: 'Node-RED',
    command({ folder, packages, port }) {
      const settings = {
        uiHost: '127.0.0.1',
        uiPort: port,
        flowFile: 'flows.json',
        telemetry: { enabled: false, updateNotification: false },
        editorTheme: { tours: false },
      };
      const file = join(folder, 'settings.cjs');
      writeFileSync(file, `module.exports = ${JSON.stringify(settings)};\n`);
      return [join(packages, 'node-red/red.js'), '--userDir', folder, '--settings', file];
    },
  },
  packages: {
    name: 'Verdaccio',
    command({ folder, packages, port }) {
      const file = join(folder, 'config.yaml');
      const settings = `storage: ./storage
auth: { htpasswd: { file: ./htpasswd } }
packages: { '**': { access: $all, publish: $all } }
log: { type: stdout, level: warn }
`;
      writeFileSync(file, settings);
      return [join(packages, 'verdaccio/bin/verdaccio'), '-c', file, '-l', `127.0.0.1:${port}`];
    },
  },
};

/** Installs the applications into `folder` by the lock file beside this file, unless they are there; throws if npm fails. */
export function installApplications(folder: string): string {
  const lock = readFileSync(join(import.meta.dirname, 'package-lock.json'));
  const installed = join(folder, 'package-lock.json');
  const packages = join(folder, 'node_modules');
  if (existsSync(packages) && existsSync(installed) && readFileSync(installed).equals(lock)) return packages;
  process.stdout.write(
    'Installing TiddlyWiki, Node-RED and Verdaccio, once: some 230 MB, a minute or two …\n',
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), readFileSync(join(import.meta.dirname, 'package.json')));
  writeFileSync(installed, lock);
  const npm = spawnSync('npm', ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (npm.status !== 0) {
    writeFileSync(installed, '');
    throw new Error('npm could not install the applications: see above');
  }
  return packages;
}

/** Starts an application, whose output goes nowhere but to a file in its folder. */
export function startApplication(
  { command }: Application,
  place: { readonly folder: string; readonly packages: string; readonly port: number },
): ChildProcess {
  mkdirSync(place.folder, { recursive: true });
  return spawn(process.execPath, command(place), {
    cwd: place.folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
