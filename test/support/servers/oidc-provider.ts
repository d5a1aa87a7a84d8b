import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { JWK } from 'jose';
import { generateKey, type LocalProviderOptions } from '../../../examples/identity-provider/provider.ts';
import type { TestScope } from '../gateway/gateway.ts';
import { guardProcess } from '../gateway/guarded-process.ts';
import { spawnNode } from '../gateway/node-process.ts';
import { onFreePort } from './free-port.ts';

/** A real OpenID provider (oidc-provider) that is a process of its own; its clients are those of the example. */
export interface OidcProvider {
  readonly issuer: string;
  /** Where it sends browsers back to; by default nobody listens there. */
  readonly redirectUri: string;
  /** Ends it, by SIGTERM or as a crash would; its port refuses connections. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts it again where it was, with the same keys; it has forgotten its sessions. */
  start(): Promise<void>;
  /** Restarts it with another key. */
  rotateKey(): Promise<void>;
}

const program = join(import.meta.dirname, '../programs/oidc-provider.ts');

/** What differs from the default: where it is, and its client's addresses. */
export type OidcProviderOptions = Partial<Omit<LocalProviderOptions, 'issuer' | 'keys'>> & {
  /** An address of this machine; another one than the client's makes it another site to browsers. */
  readonly host?: string;
};

/** Starts one on a free port; it ends with the test. */
export async function startOidcProvider(
  t: TestScope,
  { host = '127.0.0.1', ...options }: OidcProviderOptions = {},
): Promise<OidcProvider> {
  const { redirectUri = 'http://127.0.0.1:9/signed-in' } = options;
  const issuerOn = (port: number) => `http://${host}:${port}`;
  let keys: readonly JWK[] = [await generateKey()];
  let child: ChildProcess | null = null;
  const run = async (at: number) => {
    child = await startProgram({ ...options, issuer: issuerOn(at), redirectUri, keys });
  };
  const port = await onFreePort(run);
  const start = () => run(port);

  async function stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    if (child === null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    child = null;
  }

  t.teardown(() => stop('SIGKILL'));
  return {
    issuer: issuerOn(port),
    redirectUri,
    stop,
    start,
    async rotateKey() {
      await stop();
      keys = [await generateKey()];
      await start();
    },
  };
}

/** Resolves once it listens; rejects with what it said when it can't. */
async function startProgram(options: object): Promise<ChildProcess> {
  const child = spawnNode([program, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  guardProcess(child);
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const closed = once(child, 'close').then(() => {
    throw new Error(`the provider ended: ${said}`);
  });
  closed.catch(() => {});
  await Promise.race([once(child, 'message'), closed]);
  return child;
}
