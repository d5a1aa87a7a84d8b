import type { BodyRow } from './bodies.ts';
import type { FootprintRow } from './footprint.ts';
import type { HalfLoadRow } from './half-load.ts';
import { isSustained, type OfferedRow } from './offered.ts';
import { fastest, reference } from './peers/all.ts';
import { envoyApiKey } from './peers/envoy.ts';
import { fastifyHttpProxy } from './peers/fastify-http-proxy.ts';
import { nginxAuthRequest } from './peers/nginx-auth-request.ts';
import { cpuAdded, cpuRatio, type Row } from './rows.ts';
import { isUpkeepSubject, sideBySideName, type UpkeepSubject, upkeepFigure } from './upkeep/figures.ts';
import type { Upkeep } from './upkeep/measure.ts';
import { posternRows } from './upkeep/subjects.ts';

/** A bound is judged by the medians of so many rounds or more: those of a few are the machine's mood. */
export const leastRounds = 12;

/** What a row must not exceed. */
export interface Bound {
  readonly peer: string;
  readonly of: Subject;
  /** The peer it is compared with; undefined: with none. */
  readonly against: string | undefined;
  /**
   * A share of that peer's figure, or microseconds beyond it; with none, microseconds of a decision or
   * milliseconds; of upkeep, in the unit of its name, beyond that peer's figure if there is one.
   */
  readonly atMost: number;
}

/** CPU time of a request, of a decision or of a body, or latency added at half load. */
export type Subject =
  | 'saturation'
  | 'CPU µs added'
  | '5,000/s'
  | 'decision'
  | 'download'
  | 'upload'
  | 'p50 added'
  | 'p99 added'
  | UpkeepSubject;

/**
 * Authentication, scopes, identity and an access line must cost well under what bare forwarding costs in Node, and not much
 * more than nginx with nothing but a table of keys; passing on the bytes of bodies must cost no more than in Node. What a
 * browser's cookie needs beyond a token must cost next to nothing, and so must a store in another process, because its
 * results are cached; a signature in each request not much more than signing itself. Two workers, which share a listener's
 * connections, and their CPUs with the load and the upstream, cost up to a quarter more.
 */
export const bounds: readonly Bound[] = [
  { peer: 'postern-key', of: 'saturation', against: reference, atMost: 0.38 },
  { peer: 'postern-key', of: 'saturation', against: fastest, atMost: 2.3 },
  { peer: 'postern-key', of: '5,000/s', against: fastest, atMost: 1.9 },
  { peer: 'postern-key', of: '5,000/s', against: envoyApiKey.name, atMost: 1 },
  { peer: 'postern-bearer', of: 'saturation', against: reference, atMost: 0.42 },
  { peer: 'postern-bearer', of: 'saturation', against: fastest, atMost: 2.6 },
  { peer: 'postern-bearer', of: '5,000/s', against: fastest, atMost: 2.1 },
  { peer: 'postern-bearer', of: '5,000/s', against: envoyApiKey.name, atMost: 1.1 },
  ...['postern-key', 'postern-bearer'].flatMap((peer): Bound[] => [
    { peer, of: 'saturation', against: fastifyHttpProxy.name, atMost: 0.65 },
    { peer, of: 'p50 added', against: undefined, atMost: 0.3 },
    { peer, of: 'p99 added', against: fastest, atMost: 3 },
  ]),
  { peer: 'postern-key-two-workers', of: 'saturation', against: 'postern-key', atMost: 1.25 },
  { peer: 'postern-key-hs256', of: 'CPU µs added', against: 'postern-key', atMost: 8 },
  { peer: 'postern-key-eddsa', of: 'CPU µs added', against: 'postern-key', atMost: 50 },
  { peer: 'postern-browser', of: 'saturation', against: 'postern-bearer', atMost: 1.05 },
  { peer: 'postern-bearer-redis', of: 'saturation', against: 'postern-bearer', atMost: 1.1 },
  { peer: 'postern-key-postgres', of: 'saturation', against: 'postern-key', atMost: 1.1 },
  ...['decisions-nginx', 'decisions-envoy', 'decisions-envoy-grpc'].map(
    (peer): Bound => ({ peer, of: 'decision', against: undefined, atMost: 60 }),
  ),
  // To decide for nginx, with scopes and an access line, costs little more than a small service that looks into a Map.
  { peer: 'nginx-postern', of: 'saturation', against: nginxAuthRequest.name, atMost: 1.4 },
  { peer: 'postern-key', of: 'download', against: reference, atMost: 1 },
  { peer: 'postern-key', of: 'upload', against: reference, atMost: 1 },
  ...upkeepBounds(),
];

/** To have an instance at all must cost little: there may be one for each tenant, or beside each service. */
function upkeepBounds(): Bound[] {
  const { standard, twoWorkers, remoteStores, pages, sources } = posternRows;
  const most = (of: UpkeepSubject, atMost: number, peer: string = standard): Bound => ({
    ...{ peer, of, atMost },
    against: undefined,
  });
  const beyond = (peer: string, of: UpkeepSubject, atMost: number): Bound => ({
    ...{ peer, of, atMost },
    against: standard,
  });
  return [
    most('private MiB started', 34),
    most('private MiB idle', 28),
    most('private MiB after load', 40),
    most('start CPU s', 0.25),
    most('start CPU s', 0.6, sources),
    most('idle CPU ms/s', 2),
    most('wake-ups/s', 10),
    beyond(twoWorkers, 'private MiB started', 60),
    beyond(twoWorkers, 'private MiB idle', 60),
    beyond(remoteStores, 'private MiB idle', 10),
    beyond(pages, 'private MiB idle', 8),
    most('MiB in all', 4096, sideBySideName),
    most('CPUs in all', 0.5, sideBySideName),
  ];
}

/** The result of a bound; `figure` is undefined if a row it needs was not measured, which counts as not held. */
export interface Verdict extends Bound {
  readonly figure: number | undefined;
  readonly passed: boolean;
}

/** All measurements; undefined for a part that was not requested. */
export interface Measured {
  readonly saturation: readonly Row[] | undefined;
  readonly offered: readonly OfferedRow[] | undefined;
  readonly halfLoad: readonly HalfLoadRow[] | undefined;
  readonly footprint: readonly FootprintRow[] | undefined;
  readonly upkeep: Upkeep | undefined;
  readonly decisions: readonly Row[] | undefined;
  readonly bodies: readonly BodyRow[] | undefined;
}

/** Compares the measurements with the bounds; bounds of a part that was not requested are left out. */
export function judge(measured: Measured): Verdict[] {
  return bounds.flatMap((bound) => {
    const figure = figureOf(measured, bound);
    if (figure === 'not requested') return [];
    return [{ ...bound, figure, passed: figure !== undefined && figure <= bound.atMost }];
  });
}

function figureOf(
  { saturation, offered, halfLoad, upkeep, decisions, bodies }: Measured,
  { peer, of, against = '' }: Bound,
): number | undefined | 'not requested' {
  if (isUpkeepSubject(of)) return upkeep ? upkeepFigure(upkeep, of, peer, against) : 'not requested';
  if (of === 'saturation') return saturation ? ratioBetween(saturation, peer, against) : 'not requested';
  if (of === 'CPU µs added') return saturation ? addedTo(saturation, peer, against) : 'not requested';
  if (of === '5,000/s') {
    const sustained = offered?.filter((row) => row.perSecond === 5000 && isSustained(row));
    return sustained ? ratioBetween(sustained, peer, against) : 'not requested';
  }
  if (of === 'decision')
    return decisions ? decisions.find(({ name }) => name === peer)?.cpu.median : 'not requested';
  if (of === 'p50 added' || of === 'p99 added') {
    if (halfLoad === undefined) return 'not requested';
    const row = halfLoad.find(({ name }) => name === peer);
    return of === 'p50 added'
      ? row?.added.p50Ms
      : row?.fastest && tailRatio(row.added.p99Ms, row.fastest.p99Ms);
  }
  const inDirection = bodies?.filter(({ direction }) => direction === of);
  return inDirection ? ratioBetween(inDirection, peer, against) : 'not requested';
}

/** The microseconds by which the CPU time of a row exceeds another's; undefined if either was not measured. */
function addedTo(rows: readonly Row[], peer: string, against: string): number | undefined {
  const row = rows.find((candidate) => candidate.name === peer);
  const base = rows.find((candidate) => candidate.name === against);
  return row && base && cpuAdded(row.cpu, base.cpu);
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

/** The least that can be told from nothing: what a peer adds to a tail may come out below zero. */
const leastMs = 0.01;

function tailRatio(ms: number, baseMs: number): number {
  return Math.max(ms, 0) / Math.max(baseMs, leastMs);
}
