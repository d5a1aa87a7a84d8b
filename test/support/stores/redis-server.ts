import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { TestScope } from '../gateway/gateway.ts';
import { findProgram, requireOneOf } from '../programs.ts';
import type { Certificate } from '../servers/certificates.ts';
import { onFreePort } from '../servers/free-port.ts';
import { harnessUser, runRedisCommand } from './redis-command.ts';
import { createRedisProcess } from './redis-process.ts';
import type { Reply } from './resp.ts';

/** How a Redis is set up. */
export interface RedisOptions {
  /** Further lines of its configuration, e.g. `appendonly yes`; they override those that every Redis here has. */
  readonly config?: readonly string[];
  /** Users as by `ACL SETUSER`, e.g. `default off` and `gateway on >secret ~postern:* +@all`. */
  readonly users?: readonly string[];
  /** Its port accepts only TLS, with that server certificate, and requests no client certificates. */
  readonly tls?: Certificate;
  /** Whether it is a Sentinel. */
  readonly isSentinel?: boolean;
  /** Added to its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A redis-server, or valkey-server, that is a process of its own. */
export interface RedisServer {
  /** `redis://127.0.0.1:<port>`, or `rediss:`. */
  readonly url: string;
  readonly port: number;
  /** Path of its Unix socket. */
  readonly socket: string;
  /** The folder of its data and its log (`redis.log`). */
  readonly folder: string;
  /** Its process id while it runs, even paused; null once it has ended. */
  readonly pid: number | null;
  /**
   * Runs one command as a user reserved for tests, whatever the users and TLS are. Rejects with the error in the reply.
   */
  command(...args: readonly (string | number | Buffer)[]): Promise<Reply>;
  /** Ends it by SIGKILL, as a crash would; also done at the end of the test. */
  kill(): Promise<void>;
  /** Ends it by SIGTERM, paused or not. */
  stop(): Promise<void>;
  /** Starts it again, stopped first if it runs, with the same port and data. */
  restart(): Promise<void>;
  /** Pauses it: connections stay, and are even accepted, but nothing is answered. */
  pause(): void;
  /** Resumes it, with what was sent to it in the meantime. */
  resume(): void;
}

const programs = ['redis-server', 'valkey-server'];
const probe = '--version';

/** Whether there is a Redis for the test: see {@link ../programs.ts requireProgram}. */
export function requireRedis(t: Test): boolean {
  return requireOneOf(t, programs, probe);
}

/**
 * Starts one on a free loopback port, without persistence unless `options.config` enables it; resolves when it
 * responds.
 */
export async function startRedis(t: TestScope, options: RedisOptions = {}): Promise<RedisServer> {
  const program = findProgram(programs, probe);
  if (program === undefined) throw new Error(`${programs.join(' or ')} is not installed`);
  const folder = mkdtempSync(join(tmpdir(), 'postern-redis-'));
  const socket = join(folder, 'redis.sock');
  const configFile = join(folder, 'redis.conf');
  const args = options.isSentinel === true ? [configFile, '--sentinel'] : [configFile];
  const child = createRedisProcess(program, args, join(folder, 'redis.log'), socket, options.env);
  t.teardown(async () => {
    await child.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const port = await onFreePort((candidate) => {
    writeFileSync(configFile, configOf(folder, socket, candidate, options).join('\n') + '\n');
    return child.start();
  });
  return {
    url: `${options.tls === undefined ? 'redis' : 'rediss'}://127.0.0.1:${port}`,
    port,
    socket,
    folder,
    get pid() {
      return child.pid;
    },
    command: (...args) => runRedisCommand(socket, args),
    kill: () => child.end('SIGKILL'),
    stop: () => child.end('SIGTERM'),
    async restart() {
      await child.end('SIGTERM');
      await child.start();
    },
    pause: () => child.signal('SIGSTOP'),
    resume: () => child.signal('SIGCONT'),
  };
}

function configOf(
  folder: string,
  socket: string,
  port: number,
  { config = [], users = [], tls }: RedisOptions,
): string[] {
  const tlsLines = tls && [
    'port 0',
    `tls-port ${port}`,
    `tls-cert-file "${tls.certFile}"`,
    `tls-key-file "${tls.keyFile}"`,
    `tls-ca-cert-file "${tls.certFile}"`,
    'tls-auth-clients no',
  ];
  return [
    'bind 127.0.0.1',
    ...(tlsLines ?? [`port ${port}`]),
    `unixsocket "${socket}"`,
    `dir "${folder}"`,
    'save ""',
    // Replicas sync at once instead of waiting for more of them, and count as replicas from the first ping on.
    'repl-diskless-sync-delay 0',
    'repl-ping-replica-period 1',
    ...[`${harnessUser} on nopass ~* &* +@all`, ...users].map((user) => `user ${user}`),
    ...config,
  ];
}
