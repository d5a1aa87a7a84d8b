import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { eventually } from '../eventually.ts';
import { startPostern } from '../gateway/command.ts';
import { type TestScope, testConfig } from '../gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../gateway/gateway-process.ts';

/** What befalls a gateway, or its PostgreSQL, in its next transaction that writes the records. */
export interface KillPlan {
  /**
   * When it is killed: right before that statement, from 1 on; one more than there are: right after the last, which
   * commits; `sent`: when that was sent to a server and not answered yet; null: never.
   */
  readonly at: number | 'sent' | null;
  /** The PostgreSQL that is killed; null: the gateway is, by SIGKILL. */
  readonly server: KilledServer | null;
  /** Processes that are paused before the first statement, by SIGSTOP. */
  readonly pauses: readonly number[];
}

/** How a PostgreSQL is killed. */
export interface KilledServer {
  /** Of the postmaster. */
  readonly pid: number;
  /**
   * `crash`: it and all its children by SIGKILL; `immediate`: by an immediate stop; `backend`: only the process that
   * serves the transaction, by SIGKILL, after which the postmaster restarts all of them.
   */
  readonly how: 'crash' | 'immediate' | 'backend';
}

const hook = join(import.meta.dirname, '../programs/kill-at-statement.ts');
const main = join(import.meta.dirname, '../../../src/main.ts');
const listening = /^postern: listening on /m;

/** A gateway that can be killed at any statement. */
export interface MortalGateway {
  readonly gateway: GatewayProcess;
  /** Arms it for its next transaction. */
  plan(plan: Partial<KillPlan>): void;
  /**
   * Starts another one on the same stores, which applies that configuration, armed for the transaction that does. Gives
   * 200, 503 if it failed to start, or undefined if it was killed; then it is over.
   */
  apply(config: object, plan: Partial<KillPlan>): Promise<number | undefined>;
  /** The statements of the last transaction that was planned for, as far as it came. */
  reached(): readonly string[];
}

/** Starts it, with the stores of that folder. */
export async function startMortalGateway(
  t: TestScope,
  folder: string,
  config: object,
): Promise<MortalGateway> {
  const planFile = join(folder, `plan-${process.hrtime.bigint()}.json`);
  const node = [process.execPath, '--import', hook, main];
  const program = ['env', '-u', 'NODE_OPTIONS', `KILL_PLAN=${planFile}`, ...node] as const;
  const gateway = await startGatewayProcess(t, { config, folder, program });
  let lastFile = planFile;
  function arm(file: string, plan: Partial<KillPlan>): void {
    lastFile = file;
    rmSync(`${file}.reached`, { force: true });
    const nothing: KillPlan = { at: null, server: null, pauses: [] };
    writeFileSync(file, JSON.stringify({ ...nothing, ...plan }));
  }
  return {
    gateway,
    plan: (plan) => arm(planFile, plan),
    async apply(wanted, plan) {
      const name = join(folder, `applied-${process.hrtime.bigint()}`);
      writeFileSync(`${name}.yaml`, stringify(testConfig('builtin:echo', wanted)));
      arm(`${name}.json`, plan);
      const env = { KILL_PLAN: `${name}.json` };
      const nodeArgs = ['--import', hook];
      const { child, ended, printed } = startPostern(['serve', '--config', `${name}.yaml`], {
        nodeArgs,
        env,
      });
      const started = eventually('a start', () => listening.test(printed().stderr)).then(() => 200);
      const status = await Promise.race([
        started,
        ended.then(({ code }) => (code === null ? undefined : 503)),
      ]);
      child.kill('SIGKILL');
      await ended;
      started.catch(() => {});
      return status;
    },
    reached: () => JSON.parse(readFileSync(`${lastFile}.reached`, 'utf8')),
  };
}
