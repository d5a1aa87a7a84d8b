import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestScope } from '../../support/gateway/gateway.ts';
import { kubectl, type Said } from './commands.ts';

/** Where the commands of a page are run: a checkout, with the configuration of kubectl for one namespace. */
export interface Shell {
  readonly folder: string;
  write(name: string, text: string): void;
  /** Runs lines in a shell of their own, up to the first that fails; rejects with what they said then. */
  run(script: string): Promise<Said>;
}

const copied = ['helm', 'examples'];

/** Removed at the end of the test. It trusts the certificate of an ingress whose files are in its folder. */
export async function createShell(t: TestScope, namespace: string): Promise<Shell> {
  const folder = mkdtempSync(join(tmpdir(), 'postern-walk-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of copied) cpSync(name, join(folder, name), { recursive: true });
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, await kubectl('config', 'view', '--raw', '--flatten'), { mode: 0o600 });
  await kubectl(
    'config',
    'set-context',
    '--current',
    `--namespace=${namespace}`,
    `--kubeconfig=${kubeconfig}`,
  );
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    CURL_CA_BUNDLE: join(folder, 'ingress.crt'),
  };
  return {
    folder,
    write: (name, text) => writeFileSync(join(folder, name), text),
    run: (script) =>
      promisify(execFile)('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: folder, env }),
  };
}
