/** Names of records of which the audit has only the ids, loaded after the rows, as far as the reader may see the records. */

import { useContext, useEffect, useState } from 'preact/hooks';
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
    path: '/api/admin/users/',
    field: 'username',
    scope: 'users:read',
    endpoint: 'users',
  },
  scope_set: {
    what: 'set',
    path: '/api/admin/scope-sets/',
    field: 'name',
    scope: 'scopesets:read',
    endpoint: 'scope_sets',
  },
  api_key: {
    what: 'key',
    path: '/api/admin/api-keys/',
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

/**
 * Names by id, without those of records that were removed or that the reader may not see.
 * @param {readonly any[]} events
 * @returns {ReadonlyMap<string, string>}
 */
export function useNames(events) {
  const { api, served, may } = useContext(Console);
  const [names, setNames] = useState(/** @type {ReadonlyMap<string, string>} */ (new Map()));
  useEffect(() => {
    const wanted = new Map(events.flatMap(idsOf).filter(([id]) => id && !names.has(id)));
    const readable = [...wanted].flatMap(([id, name]) => {
      const kind = kinds[name];
      const maySee = kind && may(kind.scope) && (kind.endpoint === null || served.has(kind.endpoint));
      return maySee ? [{ id, kind }] : [];
    });
    let isCurrent = true;
    const lookUp = async () => {
      for (let next = readable.shift(); isCurrent && next !== undefined; next = readable.shift()) {
        const { id, kind } = next;
        const found = await api.get(kind.path + encodeURIComponent(id)).catch(() => null);
        if (found !== null) setNames((before) => new Map([...before, [id, found.value[kind.field]]]));
      }
    };
    for (let at = 0; at < lookupsAtOnce; at++) void lookUp();
    return () => {
      isCurrent = false;
    };
  }, [events]);
  return names;
}

/** The name for an id, or a short form of the id. @param {ReadonlyMap<string, string>} names @param {string} id */
export function nameOf(names, id) {
  // A word joiner keeps the two parts on one line.
  return names.get(id) ?? (id.length > 16 ? `…\u2060${id.slice(-6)}` : id);
}
