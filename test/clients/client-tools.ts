import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { openApiDocument } from '../../src/openapi/document.ts';

/** Where `install.sh` puts the tools. */
const cache = join(import.meta.dirname, '../../node_modules/.cache/clients');

/** A command of an npm package. */
export const nodeTool = (name: string) => join(cache, 'node_modules/.bin', name);
/** A file of an npm package. */
export const packageFile = (path: string) => join(cache, 'node_modules', path);
/** A command of a Python package. */
export const pythonTool = (name: string) => join(cache, 'venv/bin', name);
/** A command of a Go module. */
export const goTool = (name: string) => join(cache, 'go', name);

/**
 * Whether those files are there. Where one is missing the test is skipped, visibly; with `POSTERN_TEST_ALL` set, where
 * everything has to have run, it fails.
 */
export function requireTools(t: Test, ...files: readonly string[]): boolean {
  const missing = files.find((file) => !existsSync(file));
  if (missing === undefined) return true;
  const reason = `test/clients/install.sh has not installed ${missing.slice(cache.length + 1)}`;
  if (process.env.POSTERN_TEST_ALL === undefined) t.pass('needs a tool', { skip: reason });
  else t.fail(reason);
  return false;
}

/** How a tool ended. */
export interface Ended {
  readonly code: number;
  /** Standard output, then standard error. */
  readonly printed: string;
}

/** Runs a tool to its end; none of them may send anything to its makers. */
export function runTool(
  file: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
): Promise<Ended> {
  // The Python generator formats what it writes with a command of its environment.
  const path = `${join(cache, 'venv/bin')}:${process.env.PATH}`;
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };
  const options = { cwd, env: { ...process.env, PATH: path, ...quiet, ...env }, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    // The test runner hooks itself into every program of Node that its tests start; tsc can't run that way.
    execFile('env', ['-u', 'NODE_OPTIONS', file, ...args], options, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), printed: stdout + stderr });
    });
  });
}

/**
 * A folder that can import the npm packages, with the document in it as `openapi.json`; gone at the end of the test. `apiPath`: that
 * of the gateway it documents.
 */
export function makeClientFolder(
  t: Test,
  apiPath?: string,
): { readonly folder: string; readonly document: string } {
  const folder = mkdtempSync(join(cache, 'run-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const document = join(folder, 'openapi.json');
  writeFileSync(document, JSON.stringify(openApiDocument(apiPath)));
  return { folder, document };
}
