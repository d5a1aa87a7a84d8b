import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestScope } from '../gateway/gateway.ts';

/** A relay to a Redis that keeps from a gateway what it is told: its subscription fails, and no other connection. */
export interface PushRelay {
  /** `redis://127.0.0.1:<port>`. */
  readonly url: string;
  /** Subscriptions end, and new ones do as soon as they are made. */
  cut(): void;
  /** Connections with a subscription stay and are made, and from this moment on nothing passes on them, either way. */
  blackHole(): void;
  /** Lets subscriptions through again; those from within a black hole end. */
  restore(): void;
}

/** Starts one on a free loopback port. */
export async function startPushRelay(t: TestScope, redis: { readonly port: number }): Promise<PushRelay> {
  let state: 'through' | 'cut' | 'silent' = 'through';
  const subscribers = new Set<Socket>();
  const clients = new Set<Socket>();
  const listener = createServer((client) => {
    const server = connect(redis.port, '127.0.0.1');
    const isSilent = () => state === 'silent' && subscribers.has(client);
    clients.add(client);
    client.on('data', (chunk: Buffer) => {
      if (chunk.includes('subscribe')) subscribers.add(client);
      if (state === 'cut' && subscribers.has(client)) client.destroy();
      else if (!isSilent()) server.write(chunk);
    });
    server.on('data', (chunk: Buffer) => isSilent() || client.write(chunk));
    client
      .on('error', () => {})
      .on('close', () => {
        clients.delete(client);
        subscribers.delete(client);
        server.destroy();
      });
    server.on('error', () => {}).on('close', () => client.destroy());
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.teardown(() => {
    listener.close();
    for (const client of clients) client.destroy();
  });
  const end = () => {
    for (const client of subscribers) client.destroy();
  };
  return {
    url: `redis://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    cut() {
      state = 'cut';
      end();
    },
    blackHole() {
      state = 'silent';
    },
    restore() {
      if (state === 'silent') end();
      state = 'through';
    },
  };
}
