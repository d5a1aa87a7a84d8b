import { Agent, type ClientRequest, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** What clients met that went on asking until nobody accepted their connections any more. */
export interface Asked {
  /** How many responses there were, by their status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** The paths of the requests that got no response. */
  readonly unanswered: readonly string[];
}

const pauseMs = 10;

/**
 * Two clients that ask by an API key, one at a time, until each gets no response: one keeps its connection, the other takes
 * a new one each time. Every request has a path of its own below `path`.
 */
export async function askUntilRefused(port: number, path: string, apiKey: string): Promise<Asked> {
  const statuses: Record<number, number> = {};
  const unanswered: string[] = [];

  async function askOn(name: string, agent: Agent | false): Promise<void> {
    for (let count = 0; ; count++) {
      const own = `${path}/${name}-${count}`;
      try {
        const status = await ask(port, own, apiKey, agent);
        statuses[status] = (statuses[status] ?? 0) + 1;
      } catch {
        unanswered.push(own);
        return;
      }
      await sleep(pauseMs);
    }
  }

  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await Promise.all([askOn('kept', agent), askOn('new', false)]);
  agent.destroy();
  return { statuses, unanswered };
}

/** The status of a response that was read whole. */
function ask(port: number, path: string, apiKey: string, agent: Agent | false): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, agent, headers: { 'x-api-key': apiKey } });
    settle(sent, resolve, reject);
    sent.end();
  });
}

/** The status of a sign-in, the last byte of whose form is sent only when `mayEnd` resolves. */
export function signInSlowly(port: number, form: string, mayEnd: Promise<unknown>): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': form.length };
    const path = '/api/login/access-token';
    const sent = request({ host: '127.0.0.1', port, method: 'POST', path, agent: false, headers });
    settle(sent, resolve, reject);
    sent.write(form.slice(0, -1));
    mayEnd.then(() => sent.end(form.slice(-1)), reject);
  });
}

function settle(
  sent: ClientRequest,
  resolve: (status: number) => void,
  reject: (error: unknown) => void,
): void {
  sent.on('error', reject);
  sent.on('response', (response) => {
    response.on('error', reject);
    response.on('end', () => resolve(response.statusCode!));
    response.resume();
  });
}
