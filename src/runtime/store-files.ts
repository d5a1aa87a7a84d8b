import { statSync } from 'node:fs';
import type { Config } from '../config/sections/schema.ts';
import { problemOfDatabaseFile } from '../stores/sqlite/inspect.ts';
import { StoreOpenError } from '../stores/store-open-error.ts';

/**
 * Cases in which missing files of stores are created. `never`: by commands, which need a gateway that has started before.
 * `first-start`: only if no file suggests an earlier start, whose records would be replaced by empty ones. `always`: on request.
 */
export type Creation = 'never' | 'first-start' | 'always';

/** A store that can't be opened, as far as can be seen without opening it. */
export interface StoreFileProblem {
  readonly store: 'records' | 'sessions';
  readonly reason: string;
}

/** Finds the problems that would prevent a start from opening the store files; only for a process that has not opened them. */
export function problemsOfStoreFiles(config: Config, creates: Creation): readonly StoreFileProblem[] {
  const { records, sessions } = config.stores;
  if (records.kind === 'sqlite' && sessions.kind === 'sqlite' && records.path === sessions.path)
    return [{ store: 'sessions', reason: 'must be another file than stores.records' }];
  return (['records', 'sessions'] as const).flatMap((store) => {
    const address = config.stores[store];
    if (address.kind !== 'sqlite') return [];
    const problem = problemOfMissing(store, config, creates) ?? problemOfDatabaseFile(address.path, store);
    return problem === undefined ? [] : [{ store, reason: `${address.path} ${problem}` }];
  });
}

/** Throws {@link StoreOpenError} when the file of that store is missing and may not be created. */
export function assertMayCreate(store: StoreFileProblem['store'], config: Config, creates: Creation): void {
  const address = config.stores[store];
  const problem = problemOfMissing(store, config, creates);
  if (address.kind === 'sqlite' && problem !== undefined) throw new StoreOpenError(address.path, problem);
}

function problemOfMissing(
  store: StoreFileProblem['store'],
  { stores }: Config,
  creates: Creation,
): string | undefined {
  const address = stores[store];
  const { sessions } = stores;
  // Checked before the records: another process that starts creates the records before the sessions.
  const isLater = sessions.kind === 'sqlite' && hasContents(sessions.path);
  if (creates === 'always' || address.kind !== 'sqlite' || hasContents(address.path)) return undefined;
  if (creates === 'never')
    return 'does not exist or is empty; "serve" and "user add" create it at a first start, other commands with --create';
  // Anyone with the activation token would become the administrator of empty records. Sessions may be empty.
  return store === 'records' && isLater
    ? `does not exist or is empty, but ${sessions.path} is not: put the records back, restore a backup, or start with empty ones by --create`
    : undefined;
}

/** True unless the file is missing or empty, which is a new store to SQLite. True also if the path can't be read. */
function hasContents(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found !== undefined && found.size > 0;
  } catch {
    return true;
  }
}
