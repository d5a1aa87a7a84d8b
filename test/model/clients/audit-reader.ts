import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../support/corpora/random.ts';
import type { AuditEvent } from '../promises/audit-order.ts';
import { asRoot, send, type World } from './world.ts';

/** Reads the audit as a feed, at any gateway. */
export interface AuditReader {
  /** Reads on until the feed is at its end, or a page can't be had. Gives whether it is at its end. */
  readOn(): Promise<boolean>;
}

const size = 100;

/** `into` gets the events. */
export function createAuditReader(
  world: World,
  random: Random,
  into: AuditEvent[],
  name: string,
): AuditReader {
  let cursor = '';
  let pages = 0;
  return {
    async readOn() {
      for (;;) {
        pages++;
        const received = await send(world, {
          id: `${name}-${pages}`,
          what: 'audit page',
          gateway: random.below(world.gateways.length),
          about: [],
          call: {
            method: 'GET',
            path: `/api/admin/audit/?sort_order=asc&size=${size}${cursor}`,
            headers: asRoot(world),
          },
          statuses: [200],
        });
        if (received.status !== 200) return false;
        const { items, next_page: next, gap } = received.json;
        if (gap === true || typeof next !== 'string')
          world.history.violated(`the feed has a gap or an end: ${gap} ${next}`, received.made.to, []);
        for (const { id, time, event, outcome, request_id, target } of items)
          into.push({ id, time, event, outcome, request_id, target });
        cursor = `&cursor=${encodeURIComponent(next)}`;
        if (items.length < size) return true;
      }
    },
  };
}

/** Follows the feed until `isOver`. */
export async function followAudit(reader: AuditReader, random: Random, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await reader.readOn();
    await sleep(100 + random.below(400));
  }
}

/** Once nothing is written any more: reads on to the end, a few times if need be. */
export async function readToEnd(reader: AuditReader): Promise<boolean> {
  for (let tries = 0; tries < 20; tries++) {
    if (await reader.readOn()) return true;
    await sleep(250);
  }
  return false;
}
