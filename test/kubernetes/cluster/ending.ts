import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { eventually } from '../../support/eventually.ts';
import { kubectl } from './commands.ts';

/** Between two bytes of a form. */
const intervalMs = 1000;

/** How a container of a pod ended. */
export interface Ending {
  readonly exitCode: number;
  /** In milliseconds since the epoch, whole seconds. */
  readonly finishedAt: number;
}

/** Deletes a pod, and gives how its containers ended, by their names. */
export async function endPod(namespace: string, name: string): Promise<Map<string, Ending>> {
  const endings = new Map<string, Ending>();
  // The last state is there for a moment only: the pod is forgotten as soon as all have ended.
  const fields = '{.status.containerStatuses}{"\\n"}{.status.initContainerStatuses}{"\\n"}';
  const options = ['--namespace', namespace, '--watch', `--output=jsonpath=${fields}`];
  const watch = spawn('kubectl', ['get', 'pod', name, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  createInterface({ input: watch.stdout }).on('line', (line) => {
    for (const { name, state } of line === '' ? [] : JSON.parse(line))
      if (state.terminated)
        endings.set(name, {
          exitCode: state.terminated.exitCode,
          finishedAt: Date.parse(state.terminated.finishedAt),
        });
  });
  await kubectl('delete', 'pod', name, '--namespace', namespace, '--timeout=120s');
  watch.kill();
  return endings;
}

/** Resolves when a program runs no longer in that pod, which the API server says only when all have ended. */
export async function endOf(podUid: string, program: string): Promise<void> {
  const isThere = (pid: string) =>
    textOf(`/proc/${pid}/cgroup`).includes(podUid) && textOf(`/proc/${pid}/cmdline`).includes(program);
  await eventually(`${program} has ended`, () => !readdirSync('/proc').some(isThere), 120_000);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The status of a sign-in whose form is sent byte by byte, the last one only when `mayEnd` resolves. */
export function signInSlowly(host: string, form: string, mayEnd: Promise<unknown>): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': form.length };
    const path = '/api/login/access-token';
    const sent = request({ host, port: 8080, method: 'POST', path, agent: false, headers });
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode!));
      response.resume();
    });
    // Not all at once: a body that stands still is refused.
    let at = 0;
    const timer = setInterval(() => at < form.length - 1 && sent.write(form[at++]), intervalMs);
    mayEnd.then(() => {
      clearInterval(timer);
      sent.end(form.slice(at));
    }, reject);
  });
}
