import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { FuzzedResponse } from '../corpora/fuzzed-responses.ts';
import type { TestScope } from '../gateway/gateway.ts';

/**
 * An upstream that responds to `…/evil/ID` with given bytes, and to `…/good/ID` correctly. Below `/calm` it resets no
 * connection, because a reset may discard what was sent before it.
 */
export interface EvilUpstream {
  readonly port: number;
}

/** Starts it on a free loopback port. Requests have no body. */
export async function startEvilUpstream(
  t: TestScope,
  responseTo: (id: number) => FuzzedResponse,
): Promise<EvilUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let text = '';
    socket.setEncoding('latin1').on('data', (more: string) => {
      text += more;
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const isCalm = text.includes(' /calm/');
      const [, method, kind, id] = /^([A-Z]+) \S*\/(evil|good)\/(\d+) /.exec(text) ?? [];
      text = text.slice(end + 4);
      if (kind === 'evil') say(socket, responseTo(Number(id)), isCalm);
      else {
        const body = `good-${id}`;
        const head = `HTTP/1.1 200 OK\r\nX-Mark: ${body}\r\nContent-Length: ${body.length}\r\n\r\n`;
        socket.write(method === 'HEAD' ? head : head + body);
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port };
}

/** In two pieces, so that a parser is interrupted at any point. */
function say(socket: Socket, { bytes, cut, after }: FuzzedResponse, isCalm: boolean): void {
  socket.write(bytes.subarray(0, cut), () => {
    if (socket.destroyed) return;
    socket.write(bytes.subarray(cut), () => {
      if (after === 'end') socket.end();
      else if (after === 'reset' && !isCalm) socket.resetAndDestroy();
    });
  });
}
