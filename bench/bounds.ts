import type { BodyRow, Direction } from './bodies.ts';
import { reference } from './peers/all.ts';
import { fastifyHttpProxy } from './peers/fastify-http-proxy.ts';
import { cpuRatio, type Row } from './rows.ts';

/** What a row must not exceed. */
export interface Bound {
  readonly peer: string;
  /** Small requests, or large bodies in one direction. */
  readonly of: 'requests' | Direction;
  /** The peer it is compared with. */
  readonly against: string;
  /** CPU time, as a share of that peer's; see {@link cpuRatio}. */
  readonly cpuRatioAtMost: number;
}

/**
 * Authentication, scopes, identity and an access line must cost well under what bare forwarding costs elsewhere, and
 * under what looking a key up in a `Set` does; passing on the bytes of bodies must cost no more. What a
 * browser's cookie needs beyond a token must cost next to nothing, and so must a store in another process, because its
 * results are cached.
 */
export const bounds: readonly Bound[] = [
  { peer: 'postern-key', of: 'requests', against: reference, cpuRatioAtMost: 0.5 },
  { peer: 'postern-bearer', of: 'requests', against: reference, cpuRatioAtMost: 0.5 },
  { peer: 'postern-key', of: 'requests', against: fastifyHttpProxy.name, cpuRatioAtMost: 0.65 },
  { peer: 'postern-bearer', of: 'requests', against: fastifyHttpProxy.name, cpuRatioAtMost: 0.65 },
  { peer: 'postern-browser', of: 'requests', against: 'postern-bearer', cpuRatioAtMost: 1.05 },
  { peer: 'postern-bearer-redis', of: 'requests', against: 'postern-bearer', cpuRatioAtMost: 1.1 },
  { peer: 'postern-key-postgres', of: 'requests', against: 'postern-key', cpuRatioAtMost: 1.1 },
  { peer: 'postern-key', of: 'download', against: reference, cpuRatioAtMost: 1 },
  { peer: 'postern-key', of: 'upload', against: reference, cpuRatioAtMost: 1 },
];

/** The result of a bound; `ratio` is undefined if a row it needs was not measured, which counts as not held. */
export interface Verdict extends Bound {
  readonly ratio: number | undefined;
  readonly passed: boolean;
}

/** All measurements; undefined for a part that was not requested. */
export interface Measured {
  readonly rows: readonly Row[] | undefined;
  readonly bodies: readonly BodyRow[] | undefined;
}

/** Compares the measurements with the bounds. */
export function judge({ rows, bodies }: Measured): Verdict[] {
  return bounds.flatMap((bound) => {
    const { of } = bound;
    const measured = of === 'requests' ? rows : bodies?.filter(({ direction }) => direction === of);
    if (measured === undefined) return [];
    const ratio = ratioBetween(measured, bound.peer, bound.against);
    return [{ ...bound, ratio, passed: ratio !== undefined && ratio <= bound.cpuRatioAtMost }];
  });
}

/** The CPU time of a row as a share of another's; undefined if either was not measured. */
export function ratioBetween(
  rows: readonly Pick<Row, 'name' | 'cpu'>[],
  peer: string,
  against: string,
): number | undefined {
  const row = rows.find((candidate) => candidate.name === peer);
  const base = rows.find((candidate) => candidate.name === against);
  return row && base && cpuRatio(row.cpu, base.cpu);
}
