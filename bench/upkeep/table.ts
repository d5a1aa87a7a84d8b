import { align } from '../tables.ts';
import type { Upkeep } from './measure.ts';
import type { Memory } from './reading.ts';
import { loadPerSecond } from './settings.ts';

/** Lines between which the bench writes the table, in every document that has it. */
export const markers = {
  begin: '<!-- upkeep: written by `npm run bench` -->',
  end: '<!-- upkeep: end -->',
} as const;

const none = '—';

/** The headings of the table. */
export const headings = [
  ...['row', 'start CPU ms', 'start ms', 'private MiB started', 'Pss', 'private MiB idle', 'Pss'],
  ...['private MiB loaded, then idle', 'Pss', 'idle CPU ms/s', 'wake-ups/s'],
];

/** The paragraphs and the table of the part. */
export function renderUpkeep({ date, settings, rows, sideBySide, missing }: Upkeep): string {
  const { idleSeconds, loadSeconds, laterSeconds } = settings;
  const cells = rows.map(({ name, startCpuMs, startMs, afterStart, afterIdle, afterLoad, idle }) => [
    name,
    startCpuMs.toFixed(0),
    startMs.toFixed(0),
    ...formatMemory(afterStart),
    ...formatMemory(afterIdle),
    ...formatMemory(afterLoad),
    idle?.cpuMsPerSecond.toFixed(2) ?? none,
    idle?.wakeUpsPerSecond.toFixed(1) ?? none,
  ]);
  const many =
    sideBySide === undefined
      ? 'Instances side by side: not measured.'
      : `${sideBySide.instances} instances side by side, each with its own stores and a request a second: ${sideBySide.proportionalMiB.toFixed(0)} MiB in all
(${sideBySide.privateMiB.toFixed(0)} MiB of it private), and ${sideBySide.cpus.toFixed(2)} CPUs.`;
  return `Measured on ${date.toISOString().slice(0, 10)}.

Each row from its start to its first 200, as the image starts Postern where nothing else is said. Memory: private is what its
processes have written of their own (\`Private_Dirty\`); \`Pss\` counts an equal part of each page that processes share, too. It was
read after that 200, ${idleSeconds} s later, and after ${loadSeconds} s of ${loadPerSecond.toLocaleString('en')} requests a second and ${laterSeconds} s idle, beside the other rows.

${align(headings, cells, missing)}

${many}`;
}

/** The text with the part between its markers replaced; throws if it has no markers. */
export function replaceUpkeep(text: string, upkeep: string): string {
  const [begin, end] = [text.indexOf(markers.begin), text.indexOf(markers.end)];
  if (begin < 0 || end < begin) throw new Error('the document has no markers for the table of upkeep');
  return `${text.slice(0, begin)}${markers.begin}\n${upkeep}\n${text.slice(end)}`;
}

function formatMemory(memory: Memory | undefined): string[] {
  return memory === undefined
    ? [none, none]
    : [memory.privateMiB.toFixed(1), memory.proportionalMiB.toFixed(1)];
}
