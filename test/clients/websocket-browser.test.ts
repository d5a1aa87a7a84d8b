import { readFileSync } from 'node:fs';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { startWebSocketGateway } from '../support/servers/web-sockets.ts';

const guide = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8');
const section = guide.slice(guide.indexOf('## WebSockets'));
const example = /```js\n([\s\S]*?)```/.exec(section)![1]!;

t.setTimeout(600_000);

t.test('the example of the documentation opens a WebSocket in a browser', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const { port, sockets, reload } = await startWebSocketGateway(t);
  const origin = `http://127.0.0.1:${port}`;
  // The port, and with it the page's origin, is known only now.
  const shutdown = { timeout: '50ms' };
  await reload({ upstreams: { app: { url: sockets.url } }, cors: { origins: [origin] }, shutdown });

  const page = await context.newPage();
  await page.goto(`${origin}/.well-known/jwks.json`);
  const { username, password } = administrator;
  const script = `(async (username, password) => {
    ${example}
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onclose = ({ code }) => reject(new Error('closed with ' + code));
    });
    const echoed = new Promise((resolve) => { socket.onmessage = ({ data }) => resolve(data); });
    socket.send('hello');
    return { echoed: await echoed, protocol: socket.protocol };
  })(${JSON.stringify(username)}, ${JSON.stringify(password)})`;

  t.strictSame(await page.evaluate(script), { echoed: 'hello', protocol: 'postern' });
  const { headers } = sockets.accepted[0]!.request;
  t.match(headers, { origin, 'x-auth-method': 'session', 'x-auth-username': username });
  t.notMatch(headers, { 'sec-websocket-protocol': String });
});
