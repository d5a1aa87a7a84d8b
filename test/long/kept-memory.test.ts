import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { eventually } from '../support/gateway/forwarding.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { isLong, startGatewayUnderLoad } from '../support/gateway/gateway-under-load.ts';
import { mebibytes, residentBytes } from '../support/gateway/process-usage.ts';

/** How much the gateway's memory may have grown once it is idle again. */
const boundBytes = 40 * 2 ** 20;
const heads = isLong ? 5_000 : 1_000;
const tokens = isLong ? 2_500 : 100;
const bodies = 12;
/** Each with four bytes of a body, and a thousand times as much besides. */
const segments = isLong ? 7_800 : 500;

/** Provider endpoints accept targets of up to 64 KiB; this issuer is never contacted. */
const identityProviders = {
  idp: {
    issuer: 'https://login.example.com',
    client_id: 'postern',
    redirect_uri: 'https://acme.example.com/signed-in',
  },
};

t.setTimeout(isLong ? 600_000 : 120_000);

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  await once(socket, 'connect');
  return socket;
}

/** Sends the requests on one connection, each after the response to the one before. */
async function askAll(port: number, count: number, request: (index: number) => string): Promise<void> {
  const socket = await open(port);
  for (let index = 0; index < count; index++) {
    socket.write(request(index));
    let text = '';
    while (!isWhole(text)) text += String((await once(socket, 'data'))[0]);
  }
  socket.destroy();
}

function isWhole(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n');
  const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, headEnd))?.[1]);
  return headEnd >= 0 && text.length >= headEnd + 4 + length;
}

const longHead = (name: string) =>
  `GET /api/login/idp/exchange?assertion=${'b'.repeat(62_000)} HTTP/1.1\r\nHost: a\r\n${name}: 1\r\ny: ${'a'.repeat(15_500)}\r\n\r\n`;
const newName = (index: number) => `x-${String(index).padStart(18, '0')}`;

t.test('a gateway’s caches retain no head, token or body', async (t) => {
  const gateway = await startGatewayUnderLoad(t, { identity_providers: identityProviders });
  const { port, pid, api } = gateway;

  /** How much memory has grown, after the gateway had time to collect garbage. */
  async function growthSince(before: number): Promise<number> {
    await askAll(port, 2_000, () => `GET /zz HTTP/1.1\r\nHost: a\r\nz: ${'q'.repeat(8_000)}\r\n\r\n`);
    await eventually(() => residentBytes(pid) - before <= boundBytes, 30_000).catch(() => {});
    return residentBytes(pid) - before;
  }

  await askAll(port, 1_500, () => longHead('x-always-the-same-name'));
  const { username, password } = administrator;
  const { accessToken, cookie } = await api.signIn(username, password);
  const padding = `x-pad: ${'p'.repeat(14_500)}`;
  const withToken = (token: string) =>
    `GET /api/open/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${padding}\r\n\r\n`;
  await askAll(port, 200, () => withToken(accessToken));

  await t.test(`${heads} heads with new names`, async (t) => {
    const before = residentBytes(pid);
    await askAll(port, heads, (index) => longHead(newName(index)));
    const growth = await growthSince(before);
    t.ok(growth <= boundBytes, `${mebibytes(growth)} MiB`);
  });

  await t.test(`${tokens} tokens in long heads`, async (t) => {
    const many: string[] = [];
    for (let i = 0; i < tokens; i++) many.push((await api.refresh(cookie)).json.access_token);
    const before = residentBytes(pid);
    await askAll(port, tokens, (index) => withToken(many[index]!));
    const growth = await growthSince(before);
    t.ok(growth <= boundBytes, `${mebibytes(growth)} MiB`);
  });

  await t.test(`${bodies} half-sent bodies to a built-in endpoint`, async (t) => {
    const before = residentBytes(pid);
    const head =
      'POST /api/login/access-token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n';
    const segment = `1;x=${'y'.repeat(1_000)}\r\na\r\n`.repeat(4);
    const sockets = await Promise.all(Array.from({ length: bodies }, () => open(port)));
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.write(head);
    }
    for (let i = 0; i < segments; i++)
      await Promise.all(sockets.map((socket) => new Promise((sent) => socket.write(segment, sent))));
    const growth = await growthSince(before);
    t.ok(growth <= boundBytes, `${mebibytes(growth)} MiB`);
    for (const socket of sockets) socket.destroy();
  });
});
