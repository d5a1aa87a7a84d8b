import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { get, type IncomingMessage } from 'node:http';

/** A response of an upstream that goes on until somebody ends it. */
export function respondWithoutEnd(_request: unknown, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\n\n');
}

/** An event stream read through a gateway. */
export interface EventStream {
  readonly isOpen: boolean;
  /** Resolves when it ends, however it does. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Opens a stream under an API key, on a route that asks for `store:read`; its response has begun when this resolves. */
export async function openEventStream(port: number, apiKey: string): Promise<EventStream> {
  const headers = { 'x-api-key': apiKey };
  const request = get({ host: '127.0.0.1', port, path: '/api/store/events', headers, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`the stream was answered ${response.statusCode}`);
  let isOpen = true;
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      isOpen = false;
      resolve();
    };
    request.on('error', end);
    response.on('error', end).on('close', end).resume();
  });
  return {
    get isOpen() {
      return isOpen;
    },
    ended,
    close: () => request.destroy(),
  };
}
