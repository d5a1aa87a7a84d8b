import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestScope } from './gateway.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';

/** What befalls a gateway in its next transaction that writes the records. */
export interface KillPlan {
  /**
   * When it ends as by SIGKILL: right before that statement, from 1 on; one more than there are: right after the last,
   * which commits; `sent`: when that was sent to a server and not answered yet; null: never.
   */
  readonly at: number | 'sent' | null;
  /** Processes that end before it, by SIGKILL. */
  readonly kills: readonly number[];
  /** Processes that are paused before the first statement, by SIGSTOP. */
  readonly pauses: readonly number[];
}

const main = join(import.meta.dirname, '../../src/main.ts');
const hook = join(import.meta.dirname, 'programs/kill-at-statement.ts');

/** A gateway that can be killed at any statement. */
export interface MortalGateway {
  readonly gateway: GatewayProcess;
  /** Arms it for its next transaction. */
  plan(plan: Partial<KillPlan>): void;
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
  return {
    gateway: await startGatewayProcess(t, { config, folder, program }),
    plan: ({ at = null, kills = [], pauses = [] }) =>
      writeFileSync(planFile, JSON.stringify({ at, kills, pauses } satisfies KillPlan)),
    reached: () => JSON.parse(readFileSync(`${planFile}.reached`, 'utf8')),
  };
}
