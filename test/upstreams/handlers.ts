/**
 * What every server under test serves, and what the gateway demands for it: a handler for each path, chosen by the
 * server's own router. `admin` is the scope that the client of these tests never holds.
 */
export interface Handler {
  /** The path it is registered under, as the server's router reads paths. */
  readonly path: string;
  /** The gateway's route, where it is written differently. */
  readonly route?: string;
  readonly exact?: true;
  /**
   * What the gateway demands: nothing, `store:read` and `store:write`, any credential, or `admin:all`; `own`: the path is one of
   * Postern's own, which no server gets a request for.
   */
  readonly demands: 'nothing' | 'store' | 'credential' | 'admin' | 'own';
  /** Methods that need `admin:all`, where others need less. */
  readonly adminMethods?: (method: string) => boolean;
  readonly scopes?: object;
}

const isRead = (method: string) => ['GET', 'HEAD', 'OPTIONS'].includes(method);

/** The handlers: lax ones with strict ones inside, on one upstream. */
export const handlers: readonly Handler[] = [
  { path: '/api', demands: 'credential' },
  { path: '/api/open', demands: 'nothing' },
  { path: '/api/store', demands: 'store' },
  { path: '/api/one', exact: true, demands: 'nothing' },
  { path: '/api/login', demands: 'own' },
  { path: '/api/admin/api-keys', demands: 'own' },
  { path: '/api/strict', demands: 'admin' },
  { path: '/api/open/strict', demands: 'admin' },
  { path: '/api/store/strict', demands: 'admin' },
  { path: '/api/open/admin/users', demands: 'admin' },
  { path: '/api/open/exact', exact: true, demands: 'admin' },
  { path: '/api/open/items:purge', demands: 'admin' },
  { path: '/api/open/@admin', demands: 'admin' },
  { path: '/api/open/a+b(c)!', demands: 'admin' },
  { path: '/api/open/Upper', demands: 'admin' },
  { path: '/api/open/x:y', route: '/api/open/x%3Ay', demands: 'admin' },
  {
    path: '/api/open/verbs',
    demands: 'credential',
    adminMethods: (method) => !isRead(method),
    scopes: { read: [], write: ['admin:all'] },
  },
  {
    path: '/api/open/get',
    demands: 'credential',
    adminMethods: (method) => method === 'GET' || method === 'HEAD',
    scopes: { read: [], write: [], GET: ['admin:all'] },
  },
  {
    path: '/api/open/posts',
    demands: 'credential',
    adminMethods: (method) => !isRead(method) && method !== 'POST',
    scopes: { read: [], POST: [], write: ['admin:all'] },
  },
];

/** The handlers that only callers with `admin:all` may reach, by any method. */
export const strictHandlers = handlers.filter(({ demands }) => demands === 'admin');

/** The handlers that no caller may reach. */
export const ownHandlers = handlers.filter(({ demands }) => demands === 'own');

/** The gateway's route to a handler. */
export const routeOf = ({ route, path }: Handler): string => route ?? path;

/** The handler registered under that path. Throws if there is none. */
export function handlerOf(path: string): Handler {
  const found = handlers.find((handler) => handler.path === path);
  if (found === undefined) throw new Error(`no handler ${path}`);
  return found;
}

/** The gateway's routes to an upstream with these handlers. */
export function routesTo(upstream: string): object[] {
  const routed = handlers.filter(({ demands }) => demands !== 'own');
  return routed.map((handler) => ({
    [handler.exact ? 'exact' : 'prefix']: routeOf(handler),
    upstream,
    ...demandOf(handler),
  }));
}

function demandOf({ demands, scopes }: Handler): object {
  if (demands === 'nothing') return { public: true };
  if (demands === 'store') return { scopes: { read: ['store:read'], write: ['store:write'] } };
  return { scopes: demands === 'admin' ? ['admin:all'] : (scopes ?? []) };
}
