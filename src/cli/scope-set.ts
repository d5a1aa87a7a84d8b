import { operator } from '../administration/caller.ts';
import {
  changeScopeSet,
  createScopeSet,
  presentScopeSet,
  removeScopeSet,
  scopeSetCreate,
  scopeSetPatch,
} from '../administration/scope-sets.ts';
import { jsonText } from '../log/json-text.ts';
import { readsAsBuiltInSet } from '../rules/set-name.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import type { ScopeSetRecord } from '../stores/scope-set-records.ts';
import { type Call, Failure } from './command.ts';
import { refusedAs, requireFields } from './failures.ts';
import { allScopeSets, requireScopeSets, requireScopes } from './lookups.ts';
import { type Column, printTable } from './table.ts';
import { printJsonAlone, printResult, readableMinute, tell } from './terminal.ts';
import { type CommandContext, withStores } from './with-stores.ts';

const columns: readonly Column[] = [
  { title: 'NAME', wraps: true },
  { title: 'KIND' },
  { title: 'CHANGED', leaves: 1 },
  { title: 'SCOPES', wraps: true },
  { title: 'DESCRIPTION', wraps: true },
];

/** `scope-set list`: prints all sets by name, including the built-in one. */
export async function listScopeSets(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    const sets = (await allScopeSets(context)).map((set) => presentScopeSet(set, context.catalogue));
    const rows = sets.map(({ id, name, managed, updated, scopes, description }) => {
      const isBuiltIn = id === administratorSetId;
      const kind = isBuiltIn ? 'built in' : managed ? 'managed' : 'own';
      return [name, kind, readableMinute(isBuiltIn ? null : updated, 'never'), scopes.join(' '), description];
    });
    await printTable(call, sets, { columns, rows, none: 'There are no scope sets.' });
  });
}

/** `scope-set add NAME`: creates a set and prints its id. */
export async function addScopeSet(call: Call): Promise<void> {
  const [name] = call.operands as [string];
  const scopes = call.requireText('scopes');
  await withStores(call, async (context) => {
    const form = requireFields(scopeSetCreate([...context.catalogue]), {
      name,
      scopes: requireScopes(context, scopes),
      description: call.text('description') ?? '',
    });
    const made = await createScopeSet(context, operator, form).catch(
      refusedAs('conflict', isTaken(form.name)),
    );
    await printResult(call, presentScopeSet(made, context.catalogue), made.id);
    tell(call, `scope set ${jsonText(made.name)} is created`);
  });
}

/** `scope-set set NAME`: replaces the fields that options name; all others stay. */
export async function setScopeSet(call: Call): Promise<void> {
  const scopes = call.text('scopes');
  const name = call.text('name');
  const description = call.text('description');
  if (scopes === undefined && name === undefined && description === undefined)
    throw new Failure('usage', 'scope-set set needs --scopes, --name or --description');
  const change = async (context: CommandContext, id: string) => {
    const form = requireFields(scopeSetPatch([...context.catalogue]), {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(scopes !== undefined && { scopes: requireScopes(context, scopes) }),
    });
    return changeScopeSet(context, operator, id, form).catch(refusedAs('conflict', isTaken(form.name ?? '')));
  };
  await withScopeSet(call, change, (set) => {
    const holds = set.scopes.length === 0 ? 'no scopes' : set.scopes.join(' ');
    return `scope set ${jsonText(set.name)} is changed, and gives ${holds} to all who hold it`;
  });
}

/** `scope-set remove NAME`: removes a set that no user, identity or key holds. */
export async function deleteScopeSet(call: Call): Promise<void> {
  const inUse = `${jsonText(call.operands[0])} is in use: take it from every user, identity and key first`;
  await withScopeSet(
    call,
    (context, id) => removeScopeSet(context, operator, id).catch(refusedAs('in_use', inUse)),
    ({ name }) => `scope set ${jsonText(name)} is removed`,
  );
}

/**
 * Does `work` on the set that the operand names, and says so with the sentence; with `--json`, prints the set that `work`
 * resolves to instead.
 */
async function withScopeSet(
  call: Call,
  work: (context: CommandContext, id: string) => Promise<ScopeSetRecord>,
  sentence: (changed: ReturnType<typeof presentScopeSet>) => string,
): Promise<void> {
  const who = jsonText(call.operands[0]);
  await withStores(call, async (context) => {
    const [set] = await requireScopeSets(context, call.operands);
    if (set!.id === administratorSetId)
      throw new Failure('failed', `"administrator" is built in and can't be changed`);
    const changed = await work(context, set!.id)
      .catch(refusedAs('managed', `${who} is kept by the configuration: change it there`))
      .catch(refusedAs('not_found', `${who} was removed in the meantime`));
    const shown = presentScopeSet(changed, context.catalogue);
    await printJsonAlone(call, shown);
    tell(call, sentence(shown));
  });
}

function isTaken(name: string): string {
  const set = jsonText(name);
  if (name !== administratorSetId && readsAsBuiltInSet(name))
    return `${set} reads as ${administratorSetId}, the built-in scope set`;
  return `scope set ${set} already exists`;
}
