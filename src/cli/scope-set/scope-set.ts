import { uuidv7 } from 'uuidv7';
import type { z } from 'zod';
import { operator } from '../../administration/caller.ts';
import {
  changedSetEvents,
  createdSetEvents,
  removedSetEvents,
} from '../../administration/scope-set-events.ts';
import { presentScopeSet, scopeSetCreate, scopeSetPatch } from '../../administration/scope-set-fields.ts';
import { Refusal, ValidationError } from '../../errors.ts';
import { validate } from '../../input/validate.ts';
import { readsAsBuiltInSet } from '../../rules/set-name.ts';
import { administratorSetId } from '../../stores/scope-set.ts';
import type { ScopeSetRecord } from '../../stores/scope-set-records.ts';
import { type Call, Failure } from '../command.ts';
import { allScopeSets, requireScopeSets, requireScopes } from '../lookups.ts';
import { readableTime } from '../present.ts';
import { printJsonAlone, printResult, table } from '../terminal.ts';
import { isRefusal } from '../user/user-changes.ts';
import { type CommandContext, withStores } from '../with-stores.ts';

/** `scope-set list`: all sets by name, the built-in one among them. */
export async function listScopeSets(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    const sets = (await allScopeSets(context)).map((set) => presentScopeSet(set, context.catalogue));
    const header = ['NAME', 'KIND', 'CHANGED', 'SCOPES', 'DESCRIPTION'];
    const rows = sets.map(({ id, name, managed, updated, scopes, description }) => {
      const isBuiltIn = id === administratorSetId;
      const kind = isBuiltIn ? 'built in' : managed ? 'managed' : 'own';
      return [name, kind, isBuiltIn ? 'never' : readableTime(updated), scopes.join(' '), description];
    });
    await printResult(call, sets, table(header, rows));
  });
}

/** `scope-set add NAME`: a new set, whose id is the result. */
export async function addScopeSet(call: Call): Promise<void> {
  const [name] = call.operands as [string];
  const scopes = call.requireText('scopes');
  await withStores(call, async (context) => {
    const { records, catalogue, audit } = context;
    const form = requireFields(scopeSetCreate([...catalogue]), {
      name,
      scopes: requireScopes(context, scopes),
      description: call.text('description') ?? '',
    });
    const made = await records
      .createScopeSet({
        caller: operator.ref,
        decide: () => ({ id: uuidv7(), ...form, scopes: form.scopes.toSorted() }),
        audit: audit.withChange(operator, createdSetEvents),
      })
      .catch((error) => {
        throw isRefusal(error, 'conflict') ? isTaken(form.name) : error;
      });
    await printResult(call, presentScopeSet(made, catalogue), made.id);
  });
}

/** `scope-set set NAME`: what is named is replaced, all else stays. */
export async function setScopeSet(call: Call): Promise<void> {
  const scopes = call.text('scopes');
  const name = call.text('name');
  const description = call.text('description');
  if (scopes === undefined && name === undefined && description === undefined)
    throw new Failure('usage', 'scope-set set needs --scopes, --name or --description');
  await withScopeSet(call, async (context, id) => {
    const { records, catalogue, audit } = context;
    const form = requireFields(scopeSetPatch([...catalogue]), {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(scopes !== undefined && { scopes: requireScopes(context, scopes) }),
    });
    const changed = await records
      .changeScopeSet(id, {
        caller: operator.ref,
        decide(found) {
          assertChangeable(found);
          return { ...form, description: form.description ?? found.description };
        },
        audit: audit.withChange(operator, changedSetEvents),
      })
      .catch((error) => {
        throw isRefusal(error, 'conflict') ? isTaken(form.name ?? '') : error;
      });
    if (changed === undefined) throw isGone(call);
    return changed;
  });
}

/** `scope-set remove NAME`: a set that no user, identity or key holds. */
export async function removeScopeSet(call: Call): Promise<void> {
  await withScopeSet(call, async ({ records, audit }, id) => {
    let removed: ScopeSetRecord | undefined;
    await records
      .removeScopeSet(id, {
        caller: operator.ref,
        decide(found) {
          assertChangeable(found);
          removed = found;
        },
        audit: audit.withChange(operator, removedSetEvents),
      })
      .catch((error) => {
        if (!isRefusal(error, 'in_use')) throw error;
        const who = JSON.stringify(call.operands[0]);
        throw new Failure(
          'failed',
          `${who} is in use: take it from every user, identity and key first`,
          error,
        );
      });
    if (removed === undefined) throw isGone(call);
    return removed;
  });
}

/** Does `work` on the set whose name is the operand; the set it gives is the result. */
async function withScopeSet(
  call: Call,
  work: (context: CommandContext, id: string) => Promise<ScopeSetRecord>,
): Promise<void> {
  await withStores(call, async (context) => {
    const [set] = await requireScopeSets(context, call.operands);
    const changed = await work(context, set!.id).catch((error) => {
      const who = JSON.stringify(call.operands[0]);
      throw isRefusal(error, 'managed')
        ? new Failure('failed', `${who} is kept by the configuration: change it there`, error)
        : error;
    });
    await printJsonAlone(call, presentScopeSet(changed, context.catalogue));
  });
}

function assertChangeable({ id, managed }: ScopeSetRecord): void {
  if (id === administratorSetId)
    throw new Failure('failed', '"administrator" is built in and can’t be changed');
  if (managed) throw new Refusal('managed');
}

function isTaken(name: string): Failure {
  const set = JSON.stringify(name);
  if (name !== administratorSetId && readsAsBuiltInSet(name))
    return new Failure('failed', `${set} reads as ${administratorSetId}, the built-in scope set`);
  return new Failure('failed', `scope set ${set} already exists`);
}

function isGone({ operands }: Call): Failure {
  return new Failure('failed', `${JSON.stringify(operands[0])} was removed in the meantime`);
}

/** The fields by the rules of the HTTP API; throws Failure `usage` with every problem. */
function requireFields<S extends z.ZodObject>(schema: S, fields: Record<string, unknown>): z.output<S> {
  try {
    return validate(schema, fields, { loc: 'body' });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new Failure('usage', error.problems.map(({ loc, msg }) => `${loc[1]}: ${msg}`).join('; '), error);
  }
}
