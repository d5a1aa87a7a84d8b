import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type AuditEventName, type AuditKeeping, auditEvents } from '../../src/log/audit-events.ts';

const root = join(import.meta.dirname, '../..');
const names = Object.keys(auditEvents) as AuditEventName[];

/** What the document calls the ways in which an event reaches the records. */
const keepings: Readonly<Record<AuditKeeping, string>> = {
  with_change: 'with the change',
  afterwards: 'afterwards',
  counted: 'counted',
};

/** The rows of the table of events in docs/audit.md, as they have to be. */
function expectedRows(): Map<string, string> {
  return new Map(
    names.map((name) => {
      const { target, changes, kept } = auditEvents[name];
      const cells = [
        target === null ? '' : `\`${target}\``,
        changes.map((change) => `\`${change}\``).join(', '),
        keepings[kept],
      ];
      return [name, cells.join(' | ')];
    }),
  );
}

function documentedRows(): Map<string, string> {
  const text = readFileSync(join(root, 'docs/audit.md'), 'utf8');
  const section = text.slice(text.indexOf('\n## Events\n'));
  const rows = section.matchAll(/^\| `([a-z_]+)` \|([^|]*)\|([^|]*)\|([^|]*)\|[^|]+\|$/gm);
  return new Map(
    [...rows].map(([, name, ...cells]) => [name!, cells.map((cell) => cell.trim()).join(' | ')]),
  );
}

t.test('docs/audit.md has every event, with its target and changes and how it is kept', async (t) => {
  t.strictSame(Object.fromEntries(documentedRows()), Object.fromEntries(expectedRows()));
});

t.test('every event of the table happens', async (t) => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const sources = files
    .filter((file) => file.endsWith('.ts') && file !== 'log/audit-events.ts')
    .map((file) => readFileSync(join(root, 'src', file), 'utf8'));
  for (const name of names)
    t.ok(
      sources.some((source) => source.includes(`'${name}'`)),
      name,
    );
});
