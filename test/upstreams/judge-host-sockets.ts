import { once } from 'node:events';
import type { Test } from 'tap';
import { WebSocket } from 'ws';
import { closeCodeOf, tryWebSocket } from '../support/servers/web-sockets.ts';
import type { AskingProxy } from './asking-proxies.ts';
import { allPlaces, friend, type HostsBench, type Place, places, toldOf } from './hosts-bench.ts';

/** Opens WebSockets at every host: its own pages do, by its cookie, and nothing of any other reaches the service. */
export async function judgeHostSockets(t: Test, bench: HostsBench, proxy: AskingProxy): Promise<void> {
  for (const place of allPlaces) {
    await judgeOwn(t, bench, place);
    for (const [name, headers, status] of refusedAt(bench, proxy, place)) {
      const response = await open(bench, place, headers);
      if (response instanceof WebSocket) response.terminate();
      t.match(response, { status }, `${place}: ${name}`);
    }
    t.strictSame(bench.takeDelivered(), [], `${place}: the service saw none of these`);
  }
}

type Refused = readonly [name: string, headers: Readonly<Record<string, string>>, status: number];

const open = ({ proxyPort }: HostsBench, place: Place, headers: Readonly<Record<string, string>>) =>
  tryWebSocket(proxyPort, '/app/live', { headers: { host: toldOf(place), ...headers } });

async function judgeOwn(t: Test, bench: HostsBench, place: Place): Promise<void> {
  const own = `https://${toldOf(place)}`;
  const cookie = `a=1; ${bench.cookieAt(places[place])}`;
  const socket = await open(bench, place, { origin: own, cookie });
  if (!(socket instanceof WebSocket)) {
    t.fail(`${place}: its own page gets ${socket.status} ${socket.text}`);
    return;
  }
  socket.send('hello');
  const [echoed] = await once(socket, 'message');
  t.equal(String(echoed), 'hello', `${place}: its own page gets through`);
  socket.close(4000);
  t.equal(await closeCodeOf(socket), 4000);
  const [delivered, ...others] = bench.takeDelivered();
  t.strictSame(others, []);
  t.equal(delivered?.place, place);
  const told = ['upgrade', 'x-auth-username', 'x-auth-method', 'cookie', 'origin'];
  t.strictSame(
    told.map((name) => delivered?.seen.values(name)),
    [['websocket'], ['ada'], ['session'], ['a=1'], [own]],
    place,
  );
}

/** What opens none at a host, and how it is refused. */
function refusedAt(
  bench: HostsBench,
  { saysUpgrade = false, statusOf }: AskingProxy,
  place: Place,
): Refused[] {
  const own = `https://${toldOf(place)}`;
  const cookie = bench.cookieAt(places[place]);
  const elsewhere = allPlaces.filter((each) => each !== place);
  const origins = [
    ...elsewhere.map((each) => `https://${toldOf(each)}`),
    ...['https://evil.example', 'null', `${own}:1`, own.replace('https', 'http')],
    // At base_url's host the web cookie goes by cors.origins, on http and in decisions alike.
    ...(place === 'base' ? [] : [friend]),
  ];
  // A question that doesn't say that it is about an upgrade is one about a script of that origin, for which no cookie counts.
  const foreign = saysUpgrade ? statusOf(403) : 401;
  return [
    ['no cookie', { origin: own }, 401],
    ['an altered cookie', { origin: own, cookie: `${cookie}x` }, 401],
    ['the cookie and a bad token', { origin: own, cookie, authorization: 'Bearer x' }, 401],
    ...elsewhere.map(
      (each): Refused => [
        `the cookie of ${each}`,
        { origin: own, cookie: bench.cookieAt(places[each]) },
        401,
      ],
    ),
    ...origins.map((origin): Refused => [`a page of ${origin}`, { origin, cookie }, foreign]),
    ...(saysUpgrade ? [['no origin', { cookie }, foreign] as const] : []),
  ];
}
