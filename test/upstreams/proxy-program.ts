import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestScope } from '../support/gateway/gateway.ts';
import { guardProcess } from '../support/gateway/guarded-process.ts';
import type { AskingProxy, Surroundings } from './asking-proxies.ts';
import { endServer } from './real-server.ts';

/** What is printed, with other authorities: the system's are in no test's hand. */
function trusting(caFile: string, files: Readonly<Record<string, string>>): Record<string, string> {
  const replaced = (text: string) =>
    text.replaceAll('/etc/ssl/certs/ca-certificates.crt', caFile).replaceAll('@system-ca', caFile);
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [name, replaced(text)]));
}

/** What is printed, with the folder of the test in place of the proxy's. */
function placed(folder: string, files: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(files);
  return Object.fromEntries(
    entries.map(([name, text]) => [
      name,
      text.replaceAll(/\/(?:etc\/traefik|run\/haproxy)\//g, `${folder}/`),
    ]),
  );
}

/** A proxy that runs. */
export interface RunningProxy {
  /** What it has printed. */
  output(): string;
  hasEnded(): boolean;
}

/** Starts a proxy with what is printed for it; it ends with the test. */
export function runProxy(
  t: TestScope,
  program: string,
  proxy: AskingProxy,
  printed: Readonly<Record<string, string>>,
  options: Surroundings & {
    /** Whom the proxy trusts, where it asks over TLS. */
    readonly caFile?: string;
    /** Changes what is printed. */
    readonly edit?: (text: string) => string;
  },
): RunningProxy {
  const { caFile, edit } = options;
  const folder = mkdtempSync(join(tmpdir(), 'postern-proxy-'));
  // A server that is started as root serves as somebody else.
  chmodSync(folder, 0o755);
  const write = (files: Readonly<Record<string, string>>) => {
    for (const [file, content] of Object.entries(files))
      writeFileSync(join(folder, file), edit?.(content) ?? content);
  };
  write(placed(folder, caFile === undefined ? printed : trusting(caFile, printed)));
  write(proxy.more?.(folder, options) ?? {});
  const log = join(folder, 'output');
  const output = openSync(log, 'a');
  const env = {
    ...process.env,
    ...{ HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    // Go's programs take the system's authorities from there.
    ...(caFile !== undefined && { SSL_CERT_FILE: caFile }),
  };
  const child = spawn(program, proxy.args(folder), { cwd: '/', stdio: ['ignore', output, output], env });
  guardProcess(child);
  t.teardown(async () => {
    await endServer(child);
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    output: () => readFileSync(log, 'utf8'),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
  };
}
