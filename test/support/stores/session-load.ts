import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiResponse } from '../clients/api-client.ts';
import { eventually } from '../eventually.ts';
import { administrator } from '../gateway/gateway.ts';
import type { GatewayProcess } from '../gateway/gateway-process.ts';
import { cookieOf, statusesAt } from '../gateway/replicas.ts';

/** What a client asks, again and again. */
export type Asked = 'bearer' | 'refresh' | 'login';

/** Clients that use sessions at several gateways, without end. */
export interface SessionLoad {
  /** Answers since the last `reset`, e.g. `bearer 200`, and how many of each. */
  counts(): Record<string, number>;
  /** How long the slowest answer of that status took since then, in ms. */
  slowestMs(status: number): number;
  reset(): void;
  /** Resolves, with how long it took in ms, once every client was answered 200 to something asked from now on. */
  recovered(): Promise<number>;
  /** Statuses of all bearer tokens and then of all cookies, at the gateway. */
  statusesAt(gateway: GatewayProcess): Promise<number[]>;
  stop(): Promise<void>;
}

const { username, password } = administrator;
const clientsOfEach = 2;
const pauseMs = 15;

interface Client {
  readonly asked: Asked;
  readonly ask: () => Promise<ApiResponse>;
  /** When the last request was sent that was answered 200. */
  goodAtMs: number;
}

/** Starts two clients of each kind at each gateway; those with a session signed in at the first. */
export async function startSessionLoad(gateways: readonly GatewayProcess[]): Promise<SessionLoad> {
  const counts = new Map<string, number>();
  const slowest = new Map<number, number>();
  const bearers: string[] = [];
  const cookies: string[] = [];
  const clients: Client[] = [];
  let isStopping = false;

  for (const { api } of gateways)
    for (let index = 0; index < clientsOfEach; index++) {
      const { accessToken: bearer } = await gateways[0]!.api.signIn(username, password);
      const place = cookies.push((await gateways[0]!.api.signIn(username, password)).cookie) - 1;
      bearers.push(bearer);
      const refresh = async () => {
        const response = await api.refresh(cookies[place]!);
        if (response.status === 200) cookies[place] = cookieOf(response);
        return response;
      };
      const form = { username, password };
      const login = () => api.send({ method: 'POST', path: '/api/login/access-token', form });
      const ask = { bearer: () => api.send({ path: '/api/store/x', bearer }), refresh, login };
      for (const asked of ['bearer', 'refresh', 'login'] as const)
        clients.push({ asked, ask: ask[asked], goodAtMs: Number.NEGATIVE_INFINITY });
    }

  async function run(client: Client): Promise<void> {
    while (!isStopping) {
      const sentAtMs = performance.now();
      const status = await client.ask().then(
        (response) => response.status,
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      );
      const tookMs = performance.now() - sentAtMs;
      const key = `${client.asked} ${status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (typeof status === 'number') slowest.set(status, Math.max(slowest.get(status) ?? 0, tookMs));
      if (status === 200) client.goodAtMs = sentAtMs;
      await sleep(pauseMs);
    }
  }
  const running = clients.map(run);

  return {
    counts: () => Object.fromEntries([...counts].sort()),
    slowestMs: (status) => Math.round(slowest.get(status) ?? 0),
    reset() {
      counts.clear();
      slowest.clear();
    },
    async recovered() {
      const sinceMs = performance.now();
      await eventually('every client goes on', () => clients.every(({ goodAtMs }) => goodAtMs >= sinceMs));
      return Math.round(performance.now() - sinceMs);
    },
    statusesAt: (gateway) => statusesAt(gateway, bearers, cookies),
    async stop() {
      isStopping = true;
      await Promise.all(running);
    },
  };
}
