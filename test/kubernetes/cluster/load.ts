import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** What became of the requests of one kind. */
export interface LoadCount {
  sent: number;
  /** By what they met instead of 200: a status, or the code of an error with whether the connection had been in use. */
  readonly lost: Record<string, number>;
}

/** Clients that go on asking, none of which tries anything twice. */
export interface Load {
  readonly kinds: Readonly<Record<LoadKind, LoadCount>>;
  /** The requests of all kinds so far. */
  readonly sent: number;
  /** Lets the requests that are under way end. */
  stop(): Promise<void>;
}

/** `slow`: as `kept`, with responses that come after a pod that was told to end has let no one in any more. */
export type LoadKind = 'GET kept' | 'POST kept' | 'GET new' | 'POST new' | 'GET slow';

/** How they ask. */
export interface LoadOptions {
  readonly address: string;
  readonly apiKey: string;
  /** Clients of each kind; of the slow ones there are more. */
  readonly clients: number;
  /** Between a response and the next request of a client. */
  readonly pauseMs: number;
}

const body = JSON.stringify({ item: 'x'.repeat(200) });
const timeoutMs = 30_000;
/** More than half of `config.shutdown.delay`, and up to more than it. */
const slowMs = 4000;
const slowClients = 12;

/** Starts them: by GET and by POST, on connections that are kept and on new ones, and for slow responses. */
export function startLoad({ address, apiKey, clients, pauseMs }: LoadOptions): Load {
  const count = (): LoadCount => ({ sent: 0, lost: {} });
  const kinds: Record<LoadKind, LoadCount> = {
    'GET kept': count(),
    'POST kept': count(),
    'GET new': count(),
    'POST new': count(),
    'GET slow': count(),
  };
  let isStopped = false;

  async function ask(kind: LoadKind): Promise<void> {
    const [method = '', connections] = kind.split(' ');
    const agent = connections !== 'new' && new Agent({ keepAlive: true, maxSockets: 1 });
    const counted = kinds[kind];
    while (!isStopped) {
      const slow = connections === 'slow' ? `?slow=${slowMs + Math.floor(Math.random() * slowMs)}` : '';
      const result = await send({ address, apiKey, method, agent, path: `/api/orders${slow}` });
      counted.sent++;
      if (result !== '200') counted.lost[result] = (counted.lost[result] ?? 0) + 1;
      // At once after a slow response: its connection may just be being closed.
      if (connections !== 'slow') await sleep(pauseMs);
    }
    if (agent) agent.destroy();
  }

  const running = (Object.keys(kinds) as LoadKind[]).flatMap((kind) =>
    Array.from({ length: kind === 'GET slow' ? slowClients : clients }, () => ask(kind)),
  );
  return {
    kinds,
    get sent() {
      return Object.values(kinds).reduce((sum, { sent }) => sum + sent, 0);
    },
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

interface Sending {
  readonly address: string;
  readonly apiKey: string;
  readonly method: string;
  readonly path: string;
  readonly agent: Agent | false;
}

/** The status of a response that was read whole, or how it failed. */
function send({ address, apiKey, method, path, agent }: Sending): Promise<string> {
  return new Promise((resolve) => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const sent = request({
      host: address,
      port: 80,
      path,
      method,
      agent,
      headers,
      timeout: timeoutMs,
    });
    const fail = (error: NodeJS.ErrnoException) =>
      resolve(`${error.code ?? error.message}${sent.reusedSocket ? ' on a kept connection' : ''}`);
    sent.on('timeout', () => sent.destroy(Object.assign(new Error(), { code: 'no response' })));
    sent.on('error', fail);
    sent.on('response', (response) => {
      response.on('error', fail);
      response.on('end', () => resolve(String(response.statusCode)));
      response.resume();
    });
    sent.end(method === 'POST' ? body : undefined);
  });
}
