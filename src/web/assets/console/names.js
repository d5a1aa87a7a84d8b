/** Names of records of which the audit has only the ids, as far as the reader may see the records. */

import { useContext, useState } from 'preact/hooks';
import { Console } from './context.js';

/** Maximum number of concurrent lookups. */
const lookupsAtOnce = 6;

/**
 * Kinds of targets, each with its endpoint and the field that contains the name.
 * @type {Readonly<Record<string, {
 *   readonly what: string,
 *   readonly path: string,
 *   readonly field: string,
 *   readonly scope: string,
 *   readonly endpoint: string | null,
 * }>>}
 */
export const kinds = {
  user: {
    what: 'user',
    path: '/admin/users/',
    field: 'username',
    scope: 'users:read',
    endpoint: 'users',
  },
  scope_set: {
    what: 'set',
    path: '/admin/scope-sets/',
    field: 'name',
    scope: 'scopesets:read',
    endpoint: 'scope_sets',
  },
  api_key: {
    what: 'key',
    path: '/admin/api-keys/',
    field: 'label',
    scope: 'apikeys:read',
    endpoint: null,
  },
};

/** @param {any} event */
function idsOf({ actor, target, changes }) {
  const sets = changes?.scope_sets;
  /** @type {(readonly [id: string, kind: string])[]} */
  const ids = [
    [actor.user, 'user'],
    [target?.id, target?.type],
  ];
  for (const id of sets ? [...sets.added, ...sets.removed] : []) ids.push([id, 'scope_set']);
  return ids;
}

/** Maximum time for which events wait for names, ms; later ones are shown when they are there. */
const longestWaitMs = 1_500;

/**
 * Hook: names by id, without those of records that were removed or that the reader may not see; and the function that loads the
 * names for events.
 * @returns {[ReadonlyMap<string, string>, (events: readonly any[]) => Promise<void>]}
 */
export function useNames() {
  const { api, served, may } = useContext(Console);
  const [names, setNames] = useState(/** @type {ReadonlyMap<string, string>} */ (new Map()));
  /** @param {readonly any[]} events */
  const load = async (events) => {
    const wanted = new Map(events.flatMap(idsOf).filter(([id]) => id && !names.has(id)));
    const readable = [...wanted].flatMap(([id, name]) => {
      const kind = kinds[name];
      const maySee = kind && may(kind.scope) && (kind.endpoint === null || served.has(kind.endpoint));
      return maySee ? [{ id, kind }] : [];
    });
    /** @type {[string, string][]} */
    const found = [];
    const lookUp = async () => {
      for (let next = readable.shift(); next !== undefined; next = readable.shift()) {
        const { id, kind } = next;
        const record = await api.get(kind.path + encodeURIComponent(id)).catch(() => null);
        if (record !== null) found.push([id, record.value[kind.field]]);
      }
    };
    const all = Promise.all(Array.from({ length: lookupsAtOnce }, lookUp)).then(() =>
      setNames((before) => new Map([...before, ...found])),
    );
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, longestWaitMs))]);
  };
  return [names, load];
}

/** The name for an id, or a short form of the id. @param {ReadonlyMap<string, string>} names @param {string} id */
export function nameOf(names, id) {
  // A word joiner keeps the two parts on one line.
  return names.get(id) ?? (id.length > 16 ? `…\u2060${id.slice(-6)}` : id);
}
