import type { Config } from '../config/sections/schema.ts';
import type { OpenConnection } from '../http1/client/client-pool.ts';
import type { CreateListener } from '../http1/server/server.ts';
import type { Log } from '../log/log.ts';

/** An HTTP engine. */
export interface Engine {
  /** Undefined for the built-in engine. */
  readonly createListener: CreateListener | undefined;
  readonly openConnection: OpenConnection | undefined;
}

/** Malformed input that llhttp (Node 24) accepts without any handler noticing; matches `test/engine-differences.json`. */
export const notRefused: readonly string[] = [
  'two spaces in a request line',
  'empty lines before a request, with a bare LF or CR too',
  'chunk sizes with zeros before them, and sizes beyond all bounds',
  'malformed chunk extensions',
  'request trailers longer than limits.header_bytes',
  'requests of the form SOURCE ... ICE/1.0',
  'an upstream’s response in another version',
  'an empty line before the response of an upstream',
];

/** The engine that `listen.engine` names. For `node`, a warning is logged and its libraries are loaded. */
export async function loadEngine({ listen }: Config, log: Log): Promise<Engine> {
  if (listen.engine === 'built_in') return { createListener: undefined, openConnection: undefined };
  log.warn(
    'listen.engine is node: meant for emergencies only, it accepts input that the built-in engine refuses',
    { not_refused: notRefused },
  );
  const [{ createNodeListener }, { UndiciConnection }] = await Promise.all([
    import('../node-engine/listener.ts'),
    import('../node-engine/upstream-connection.ts'),
  ]);
  return {
    createListener: createNodeListener,
    openConnection: (dialler, owner) => new UndiciConnection(dialler, owner),
  };
}
