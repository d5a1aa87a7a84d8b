import { type AuditEventKind, auditEvents } from '../../../src/log/audit-events.ts';

type Line = Record<string, unknown>;

/**
 * What is wrong with the audit lines of a log that are in the records, too: an event that is not documented, or one with
 * another target or other changes than documented.
 */
export function auditProblems(logLines: readonly Line[]): string[] {
  return logLines
    .filter(({ audit, id }) => audit === true && id !== undefined)
    .flatMap((line) => problemsOf(line).map((problem) => `${String(line.event)}: ${problem}`));
}

function problemsOf({ event, target, changes }: Line): string[] {
  const kinds: Readonly<Record<string, AuditEventKind>> = auditEvents;
  const kind = kinds[String(event)];
  if (kind === undefined) return ['is not documented'];
  const type = (target as { readonly type: string } | undefined)?.type ?? null;
  const others = Object.keys(changes ?? {}).filter(
    (name) => !(kind.changes as readonly string[]).includes(name),
  );
  return [
    ...(type === kind.target ? [] : [`its target is ${type} instead of ${kind.target}`]),
    ...others.map((name) => `${name} among its changes`),
    ...(kind.kept === 'with_change' || kind.kept === 'afterwards' ? [] : ['is in the records, under an id']),
  ];
}
