import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createProbe } from './probe.ts';

/** A container of a pod that runs as a process of this machine. */
export interface RunningContainer {
  readonly spec: any;
  /** The exit code, once it has ended; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Asks what the probe says to ask; whether the kubelet were content. */
  probe(name: ProbeName): Promise<boolean>;
  /** Asks as often as the probe says; throws when it has failed too often. A probe that is not there is content. */
  untilProbed(name: ProbeName): Promise<void>;
  /** Runs its `preStop` hook, until that or the container has ended. */
  preStop(): Promise<void>;
  /** Sends the signal its image stops on, if it still runs. */
  stop(): void;
  kill(): void;
  /** What it has printed. */
  printed(): string;
}

type ProbeName = 'startupProbe' | 'livenessProbe' | 'readinessProbe';

/** What the image runs, and where the code that it runs is here. */
const entrypoint = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(readFileSync('Dockerfile', 'utf8'))![1]!) as string[];
const inImage = new Map([
  ['node', process.execPath],
  ['/app/dist/main.js', resolve('src/main.ts')],
]);

/** What the way from a hook's end over kubelet and runtime to the signal takes. */
const runtimeMs = 100;

/** Starts a container with its command, arguments and environment and no other; mount paths become those of `volumes`. */
export function startContainer(spec: any, volumes: ReadonlyMap<string, string>): RunningContainer {
  const mounts = new Map<string, string>(
    (spec.volumeMounts ?? []).map(({ name, mountPath }: any) => [mountPath, volumes.get(name)!]),
  );
  const outside = (text: string) => withMountPaths(text, mounts);
  for (const folder of mounts.values()) rewriteFiles(folder, outside);
  const env: NodeJS.ProcessEnv = Object.fromEntries(
    (spec.env ?? []).map(({ name, value }: any) => [name, outside(value)]),
  );

  const [command = '', ...args]: string[] = [...(spec.command ?? entrypoint), ...(spec.args ?? [])].map(
    (word: string) => inImage.get(word) ?? outside(word),
  );
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed: string[] = [];
  const listenTo = ({ stdout, stderr }: ChildProcess) => {
    for (const stream of [stdout!, stderr!]) stream.on('data', (piece) => printed.push(String(piece)));
  };
  listenTo(child);
  const ended = once(child, 'close').then(([code]) => code as number | null);

  /** Whether the command, run in the container, ends with 0. Its process 1 is the child, and all ends with that. */
  async function execute(words: readonly string[], signal?: AbortSignal): Promise<boolean> {
    const inside = words.map((word) => inImage.get(word) ?? outside(word));
    const [command = '', ...args] = inside.map((word) => word.replace(/\bkill\(1\b/, `kill(${child.pid}`));
    const run = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    listenTo(run);
    const stop = () => run.kill('SIGKILL');
    signal?.addEventListener('abort', stop);
    ended.then(stop, stop);
    const [code] = await once(run, 'close');
    return code === 0;
  }

  const probe = createProbe(spec, execute);
  return {
    spec,
    ended,
    probe,
    async untilProbed(name) {
      if (!spec[name]) return;
      for (let left = name === 'startupProbe' ? spec[name].failureThreshold : 10; left > 0; left--) {
        if (await probe(name)) return;
        if (child.exitCode !== null) break;
        await sleep((spec[name].periodSeconds ?? 10) * 1000);
      }
      throw new Error(`${name} of ${spec.name} failed too often: ${printed.join('')}`);
    },
    async preStop() {
      const { sleep: pause, exec } = spec.lifecycle?.preStop ?? {};
      if (pause) await Promise.race([sleep(pause.seconds * 1000), ended]);
      if (!exec) return;
      if (!(await execute(exec.command)))
        throw new Error(`the preStop hook of ${spec.name} failed: ${printed.join('')}`);
      await sleep(runtimeMs);
    },
    // As the image of nginx has it.
    stop: () => child.kill(command.endsWith('/nginx') ? 'SIGQUIT' : 'SIGTERM'),
    kill: () => child.kill('SIGKILL'),
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
    if (statSync(file).isFile() && /\.(?:yaml|conf)$/.test(name))
      writeFileSync(file, change(readFileSync(file, 'utf8')));
  }
}
