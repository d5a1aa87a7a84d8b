import { fileURLToPath } from 'node:url';
import { causeOf, type Frame, type Part, partOf } from './parts.ts';

/** The part of a CPU profile that is read: samples are ids of nodes, deltas µs. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: CallFrame;
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** A profile of allocations: what each function has allocated by itself. */
export interface AllocationProfile {
  readonly head: AllocationNode;
}

interface AllocationNode {
  readonly callFrame: CallFrame;
  /** Bytes. */
  readonly selfSize: number;
  readonly children: readonly AllocationNode[];
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
}

/** How often something held up the event loop, ms. */
export interface Pauses {
  readonly times: number;
  readonly longestMs: number;
  readonly totalMs: number;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The time of each part, µs. */
export function timesByPart(profile: CpuProfile): Map<Part, number> {
  const stacks = stacksOf(profile);
  const times = new Map<Part, number>();
  profile.samples.forEach((id, index) => {
    const stack = stacks.get(id)!;
    if (isIdle(stack)) return;
    const part = partOf(stack);
    // A sample stands for the time until the next one.
    times.set(part, (times.get(part) ?? 0) + (profile.timeDeltas[index + 1] ?? 0));
  });
  return times;
}

/** What held up the event loop without a break, by its cause; requests, of which there are many in a turn, are left out. */
export function pausesByCause(profile: CpuProfile): Map<string, Pauses> {
  const stacks = stacksOf(profile);
  const pauses = new Map<string, Pauses>();
  let [cause, lasted] = ['', 0];
  const end = () => {
    if (cause !== '') pauses.set(cause, withPause(pauses.get(cause), lasted / 1000));
    [cause, lasted] = ['', 0];
  };
  profile.samples.forEach((id, index) => {
    const stack = stacks.get(id)!;
    const next = isIdle(stack) ? '' : causeOf(stack);
    const isCounted = next !== 'requests' && next !== 'Node';
    if (next !== cause || !isCounted) end();
    if (!isCounted) return;
    cause = next;
    lasted += profile.timeDeltas[index + 1] ?? 0;
  });
  end();
  return pauses;
}

/** One more pause. */
export function withPause(before: Pauses | undefined, ms: number): Pauses {
  const { times, longestMs, totalMs } = before ?? { times: 0, longestMs: 0, totalMs: 0 };
  return { times: times + 1, longestMs: Math.max(longestMs, ms), totalMs: totalMs + ms };
}

/** What each part has allocated, bytes. */
export function allocationsByPart({ head }: AllocationProfile): Map<Part, number> {
  const bytes = new Map<Part, number>();
  const visit = ({ callFrame, selfSize, children }: AllocationNode, above: readonly Frame[]) => {
    const stack = [...above, frameOf(callFrame)];
    if (selfSize > 0) {
      const part = partOf(stack);
      bytes.set(part, (bytes.get(part) ?? 0) + selfSize);
    }
    for (const child of children) visit(child, stack);
  };
  visit(head, []);
  return bytes;
}

function stacksOf({ nodes }: CpuProfile): Map<number, readonly Frame[]> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stacks = new Map<number, readonly Frame[]>();
  const visit = (id: number, above: readonly Frame[]) => {
    const { callFrame, children = [] } = byId.get(id)!;
    const stack = [...above, frameOf(callFrame)];
    stacks.set(id, stack);
    for (const child of children) visit(child, stack);
  };
  // The first node is the root of all.
  if (nodes[0] !== undefined) visit(nodes[0].id, []);
  return stacks;
}

function frameOf({ functionName, url }: CallFrame): Frame {
  return { name: functionName, file: url.replace(/^file:\/\//, '').replace(root, '') };
}

function isIdle(stack: readonly Frame[]): boolean {
  return stack.at(-1)?.name === '(idle)';
}
