import t from 'tap';
import type { Refusal } from '../../src/errors.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import type { BodyReader } from '../../src/http1/server/incoming-body.ts';
import { type BodyOwner, ForwardedBody, HeldBodies } from '../../src/proxy/forwarded-body.ts';
import type { Route } from '../../src/proxy/route-table.ts';

const route = { maxBodyBytes: Number.POSITIVE_INFINITY, leastBodyBytesPerSecond: 0 } as Route;

/** A body of which 16 KiB have come and more is on its way; gives what its client's connection was told. */
function receive(onBodyReady: (body: ForwardedBody) => void): readonly string[] {
  const told: string[] = [];
  const tell = (what: string) => () => void told.push(what);
  const exchange = {
    bytesIn: 0,
    bodyDone: false,
    connection: { pause: tell('pause'), resume: tell('resume'), release: tell('release') },
    readBody: (reader: BodyReader) => reader.onBodyChunk(Buffer.alloc(16 * 1024)),
  };
  const owner: BodyOwner = {
    connection: null,
    onBodyReady: () => onBodyReady(body),
    onBodyReceived: () => {},
    onBodyRefused: (refusal: Refusal) => t.fail(refusal.code),
  };
  const body: ForwardedBody = new ForwardedBody(
    exchange as unknown as Exchange,
    route,
    owner,
    new HeldBodies(),
  );
  body.start();
  return told;
}

t.test('a client waits until there is a connection to the upstream', async (t) => {
  t.same(
    receive(() => {}),
    ['pause'],
  );
});

t.test('where there is none for it, what it still sends is read', async (t) => {
  t.same(
    receive((body) => body.drop()),
    ['release'],
    'it is not paused: closing with unread bytes would lose it the response',
  );
});
