import { connect } from 'node:net';
import type { TestScope } from '../support/gateway/gateway.ts';

/** A program of Mozilla's that runs scripts, by its protocol Marionette. */
export interface Marionette {
  /** Runs the body of an asynchronous function with the program's own rights; rejects with what it throws. */
  run(script: string, args: readonly unknown[]): Promise<unknown>;
}

/** A command or a response: its kind, its number, and two more. */
type Message = readonly [kind: number, id: number, unknown, unknown];

/** Connects to the port that the program was started with. Rejects if nothing listens there yet. */
export async function connectMarionette(t: TestScope, port: number): Promise<Marionette> {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  const waiting = new Map<number, (message: Message) => void>();
  let received = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes]);
    for (;;) {
      const colon = received.indexOf(':');
      const end = colon + 1 + Number(received.subarray(0, colon));
      if (colon < 0 || received.length < end) return;
      const message = JSON.parse(received.subarray(colon + 1, end).toString());
      received = received.subarray(end);
      // The first one is a greeting.
      if (Array.isArray(message)) waiting.get(message[1])?.(message as unknown as Message);
    }
  });
  await new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', resolve);
  });
  socket.on('error', () => {});
  let last = 0;
  const send = (name: string, parameters: object) =>
    new Promise<unknown>((resolve, reject) => {
      last += 1;
      const text = JSON.stringify([0, last, name, parameters]);
      waiting.set(last, ([, , error, result]) => {
        if (error === null) resolve(result);
        else reject(new Error(JSON.stringify(error)));
      });
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  await send('WebDriver:NewSession', { capabilities: {} });
  await send('WebDriver:SetTimeouts', { script: 60_000 });
  await send('Marionette:SetContext', { value: 'chrome' });
  return {
    run: (script, args) =>
      send('WebDriver:ExecuteScript', {
        script: `return (async (...args) => { ${script} })(...arguments);`,
        args,
        sandbox: 'system',
        newSandbox: true,
      }),
  };
}
