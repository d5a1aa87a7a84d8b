import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A container of a pod that runs as a process of this machine. */
export interface RunningContainer {
  readonly spec: any;
  readonly child: ChildProcess;
  /** The exit code, once it has ended; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Asks what the probe says to ask; whether the kubelet were content. */
  probe(name: 'startupProbe' | 'livenessProbe' | 'readinessProbe'): Promise<boolean>;
  /** Asks as often as the probe says; throws when it has failed too often. */
  untilProbed(name: 'startupProbe' | 'readinessProbe'): Promise<void>;
  /** What it has printed. */
  printed(): string;
}

/** What the image runs, and where the code that it runs is here. */
const entrypoint = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(readFileSync('Dockerfile', 'utf8'))![1]!) as string[];
const inImage = new Map([
  ['node', process.execPath],
  ['/app/dist/main.js', resolve('src/main.ts')],
]);

/** Starts a container with its command, arguments and environment and no other; mount paths become those of `volumes`. */
export function startContainer(spec: any, volumes: ReadonlyMap<string, string>): RunningContainer {
  const mounts = new Map<string, string>(
    (spec.volumeMounts ?? []).map(({ name, mountPath }: any) => [mountPath, volumes.get(name)!]),
  );
  const outside = (text: string) => withMountPaths(text, mounts);
  for (const folder of mounts.values()) rewriteFiles(folder, outside);

  const [command = '', ...args]: string[] = [...(spec.command ?? entrypoint), ...(spec.args ?? [])].map(
    (word: string) => inImage.get(word) ?? outside(word),
  );
  const env: NodeJS.ProcessEnv = Object.fromEntries(
    (spec.env ?? []).map(({ name, value }: any) => [name, outside(value)]),
  );
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed: string[] = [];
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (piece) => printed.push(String(piece)));

  async function probe(name: string): Promise<boolean> {
    const { httpGet, timeoutSeconds } = spec[name];
    const { containerPort } = spec.ports.find((port: any) => port.name === httpGet.port);
    const answer = fetch(`http://127.0.0.1:${containerPort}${httpGet.path}`, {
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
    });
    return answer.then(
      ({ status }) => status >= 200 && status < 400,
      () => false,
    );
  }

  return {
    spec,
    child,
    ended: once(child, 'close').then(([code]) => code as number | null),
    probe,
    async untilProbed(name) {
      for (let left = name === 'startupProbe' ? spec[name].failureThreshold : 10; left > 0; left--) {
        if (await probe(name)) return;
        if (child.exitCode !== null) break;
        await sleep(spec[name].periodSeconds * 1000);
      }
      throw new Error(`${name} of ${spec.name} failed too often: ${printed.join('')}`);
    },
    printed: () => printed.join(''),
  };
}

function withMountPaths(text: string, mounts: ReadonlyMap<string, string>): string {
  const paths = [...mounts.keys()]
    .sort((left, right) => right.length - left.length)
    .map((path) => path.replaceAll('.', '\\.'));
  if (paths.length === 0) return text;
  return text.replace(
    new RegExp(`(?<![\\w/.-])(${paths.join('|')})(?![\\w.-])`, 'g'),
    (path) => mounts.get(path)!,
  );
}

function rewriteFiles(folder: string, change: (text: string) => string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (statSync(file).isFile() && file.endsWith('.yaml'))
      writeFileSync(file, change(readFileSync(file, 'utf8')));
  }
}
