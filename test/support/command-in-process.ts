import { EventEmitter } from 'node:events';
import { PassThrough, Readable, Writable } from 'node:stream';
import type { Terminal } from '../../src/cli/command.ts';
import { run } from '../../src/cli/run.ts';

/** What a command came to. */
export interface InProcessResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as JSON; throws when it is none. */
  readonly json: any;
}

/** A command that runs in this process, with what it has printed so far. */
export interface RunningCommand {
  readonly ended: Promise<InProcessResult>;
  stdout(): string;
  /** As a signal of that name to a process of its own. */
  signal(name: 'SIGINT' | 'SIGTERM'): void;
}

/** Runs `postern <args>` in this process, which costs far less than a process of its own. */
export function startInProcess(args: readonly string[], input = ''): RunningCommand {
  const printed = { stdout: '', stderr: '' };
  const collect = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _encoding, done) {
        printed[name] += chunk;
        done();
      },
    });
  const signals = new EventEmitter();
  const terminal = {
    stdin: input === '' ? new PassThrough().end() : Readable.from([Buffer.from(input)]),
    stdout: collect('stdout'),
    stderr: collect('stderr'),
    env: {},
    on: signals.on.bind(signals),
    exit: (code: number) => {
      throw new Error(`exit ${code}`);
    },
  } as unknown as Terminal;
  const ended = run(args, terminal).then((code) => ({
    code,
    ...printed,
    get json() {
      return JSON.parse(printed.stdout);
    },
  }));
  return { ended, stdout: () => printed.stdout, signal: (name) => void signals.emit(name) };
}

/** Runs `postern <args> --config …` in this process to its end. */
export function commandsOn(
  configFile: string,
): (args: readonly string[], input?: string) => Promise<InProcessResult> {
  return (args, input) => startInProcess([...args, '--config', configFile], input).ended;
}
