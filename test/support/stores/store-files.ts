import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { eventually } from '../eventually.ts';
import { administrator, bootstrapToken } from '../gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../gateway/gateway-process.ts';
import { keysAreNamed } from '../gateway/reload.ts';
import { scrape } from '../gateway/scrape.ts';
import { replaceWorker } from '../gateway/worker-processes.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';

/** A file that stores are opened with. */
export interface StoreFile {
  /** The `stores` of a configuration that names the file. */
  readonly stores: (file: string) => object;
  readonly content: string | Uint8Array;
  /** What another start would fail with, or find other stores by. */
  readonly replacement: string | Uint8Array;
  /** The key that is reported. */
  readonly key: string;
}

/**
 * Has the file replaced under a running gateway, which reports the key and serves on, in workers of which two are killed
 * afterwards; then put back, after which nothing needs a restart.
 */
export async function judgeReplacedFile(t: Test, file: StoreFile, workers: number): Promise<void> {
  const folder = makeTemporaryFolder('postern-files-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'file');
  writeFileSync(path, file.content);
  const gateway = await startGatewayProcess(t, { config: { workers, stores: file.stores(path) } });
  const { username, password } = administrator;
  t.equal((await gateway.api.activate(username, password, bootstrapToken)).status, 201);
  const { accessToken: bearer } = await gateway.api.signIn(username, password);

  writeFileSync(path, file.replacement);
  await keysAreNamed(gateway, [file.key]);
  t.equal((await scrape(gateway.managementPort)).value('config_restart_needed'), 1);
  if (workers > 1) {
    await replaceWorker(gateway);
    await replaceWorker(gateway);
  }
  await serves(gateway, bearer);

  writeFileSync(path, file.content);
  await eventually('nothing needs a restart', async () => {
    return (await scrape(gateway.managementPort)).value('config_restart_needed') === 0;
  });
  await serves(gateway, bearer);
}

/** Every worker knows the session, the user and the keys of the start, once it has reached the stores. */
async function serves({ api }: GatewayProcess, bearer: string): Promise<void> {
  const { username, password } = administrator;
  await eventually('every worker serves', async () => {
    await api.signIn(username, password);
    const request = { path: '/api/admin/api-keys/', bearer };
    const responses = await Promise.all(Array.from({ length: 20 }, () => api.send(request)));
    return responses.every(({ status }) => status === 200);
  });
}
