import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiServer } from './addresses.ts';
import type { Credentials } from './certificates.ts';

/** What the API server has of one kind. */
export interface Watched {
  readonly items: () => any[];
}

/** What the parts of the node that are written here ask of the API server. */
export interface Api {
  /** The status and body of a response. */
  send(method: string, path: string, body?: object): Promise<{ status: number; json: any }>;
  /** Keeps a copy of a list, such as `/api/v1/pods`, and calls `changed` after every change of it. */
  watch(path: string, changed: () => void): Watched;
}

export function createApi({ caFile, adminCert, adminKey }: Credentials): Api {
  const agent = new Agent({
    ca: readFileSync(caFile),
    cert: readFileSync(adminCert),
    key: readFileSync(adminKey),
    keepAlive: true,
  });

  function open(method: string, path: string, body?: object): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const sent = request(apiServer + path, { agent, method, headers });
      sent.on('error', reject);
      sent.on('response', resolve);
      sent.end(body && JSON.stringify(body));
    });
  }

  const send: Api['send'] = async (method, path, body) => {
    const response = await open(method, path, body);
    return { status: response.statusCode!, json: JSON.parse(await text(response)) };
  };

  /** Lists, and follows what changes until the API server ends the response. */
  async function follow(path: string, items: Map<string, any>, changed: () => void): Promise<void> {
    const { json } = await send('GET', path);
    items.clear();
    for (const item of json.items) items.set(item.metadata.uid, item);
    changed();
    const { resourceVersion } = json.metadata;
    const response = await open('GET', `${path}?watch=1&resourceVersion=${resourceVersion}`);
    for await (const line of createInterface({ input: response })) {
      const { type, object } = JSON.parse(line);
      if (type === 'ERROR') return;
      if (type === 'DELETED') items.delete(object.metadata.uid);
      else items.set(object.metadata.uid, object);
      changed();
    }
  }

  return {
    send,
    watch(path, changed) {
      const items = new Map<string, any>();
      const forever = async () => {
        for (;;) {
          // A list is asked for anew whatever went wrong.
          await follow(path, items, changed).catch(() => {});
          await sleep(200);
        }
      };
      void forever();
      return { items: () => [...items.values()] };
    },
  };
}
