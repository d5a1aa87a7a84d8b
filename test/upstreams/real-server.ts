import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import type { TestScope } from '../support/gateway/gateway.ts';
import { guardProcess } from '../support/gateway/guarded-process.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { handlers } from './handlers.ts';

/** What a handler recorded of a request: what its server told it. */
export interface SeenByHandler {
  /** The path the handler is registered under; empty: that of no other. */
  readonly handler: string;
  readonly method: string;
  /** As the server reads it. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The mount point the server took away from the path. */
  readonly root: string;
  /** Who is calling, where the server or its framework says so. */
  readonly user: string;
  readonly address: string;
  readonly scheme: string;
  /** The first bytes of the body. */
  readonly body: string;
}

/** A server that runs. */
export interface RealServer {
  readonly port: number;
  /** Everything its handlers recorded so far, in order. */
  seen(): SeenByHandler[];
}

/** A process of a server. */
export interface ServerProcess {
  readonly command: readonly [program: string, ...args: string[]];
  readonly env?: Readonly<Record<string, string>>;
}

/** What a server is told. */
export interface ServerPlace {
  /** A folder of its own that every user of the machine may enter. */
  readonly folder: string;
  /** The file into which handlers write a line of JSON for each request. */
  readonly record: string;
  readonly port: number;
}

/** A kind of server. */
export interface ServerKind {
  readonly name: string;
  /** What is not there, in words; undefined when it can be started. */
  readonly missing: () => string | undefined;
  /** A handler that it does not take the gateway's route for: it reads that as another path. */
  readonly unreached?: string;
  /** Whether it serves on that port; left out: it answers `/ready` with 200 and records that. */
  readonly isReady?: (port: number) => Promise<boolean>;
  /** It takes so long for a request that the largest corpora are sent in part. */
  readonly isSlow?: true;
  /** The processes it consists of, started in this order; those of one kind are judged by the same record. */
  readonly processes: (place: ServerPlace) => readonly ServerProcess[];
}

/** The paths of the handlers, for programs; one that ends in `$` is that path alone, with or without a slash. */
export const handlerPaths: string = JSON.stringify(
  handlers.map(({ path, exact }) => (exact ? `${path}$` : path)),
);

/** Starts the server on a free port; it ends with the test. */
export async function startRealServer(t: TestScope, kind: ServerKind): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), 'postern-upstream-'));
  chmodSync(folder, 0o755);
  const record = join(folder, 'record');
  appendFileSync(record, '');
  // Servers that are started as root serve as somebody else.
  chmodSync(record, 0o666);
  const port = guessPort();
  const log = join(folder, 'output');
  const children: ChildProcess[] = [];
  t.teardown(async () => {
    for (const child of children.reverse()) await endServer(child);
    rmSync(folder, { recursive: true, force: true });
  });
  for (const { command, env } of kind.processes({ folder, record, port })) {
    const output = openSync(log, 'a');
    const child = spawn(command[0], command.slice(1), {
      cwd: folder,
      stdio: ['ignore', output, output],
      env: {
        ...process.env,
        UPSTREAM_PORT: `${port}`,
        UPSTREAM_RECORD: record,
        UPSTREAM_HANDLERS: handlerPaths,
        ...env,
      },
    });
    closeSync(output);
    guardProcess(child);
    children.push(child);
  }
  await eventually(`${kind.name} on port ${port}`, async () => {
    if (children.some(hasEnded)) return true;
    if (kind.isReady !== undefined) return kind.isReady(port);
    const { status } = await fetch(`http://127.0.0.1:${port}/ready`);
    return status === 200 && readRecord(record).length > 0;
  }).catch((error) => {
    throw new Error(readFileSync(log, 'utf8').slice(-2000), { cause: error });
  });
  if (children.some(hasEnded)) throw new Error(readFileSync(log, 'utf8').slice(-2000));
  truncateSync(record);
  // A server may write its log after its response, so a request of those above may be recorded only now.
  return { port, seen: () => readRecord(record).filter(({ path }) => path !== '/ready') };
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

/** Ends a server by SIGTERM, by SIGKILL only if it takes too long: the workers of a killed nginx go on without their master. */
export async function endServer(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(late);
}

function readRecord(file: string): SeenByHandler[] {
  return readFileSync(file, 'latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseLine(line));
}

/** A line of JSON; Apache writes bytes as `\xhh`. */
function parseLine(line: string): SeenByHandler {
  try {
    return JSON.parse(
      line.replace(/(?<!\\)((?:\\\\)*)\\x([0-9a-f]{2})/gi, '$1\\u00$2').replaceAll("\\'", "'"),
    );
  } catch (error) {
    throw new Error(`not JSON: ${line}`, { cause: error });
  }
}
