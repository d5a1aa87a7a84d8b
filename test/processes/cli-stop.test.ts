import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { createCommandFolder } from '../support/gateway/command.ts';

/** Has standard error pass for a terminal. */
const onTerminal = ['--import', 'data:text/javascript,process.stderr.isTTY=true'];

t.test('a stop on a terminal says what it waits for, and a second Ctrl-C ends it', async (t) => {
  const upstream = createServer(() => {}).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  t.teardown(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const { serve } = createCommandFolder(t, { shutdown: { delay: '0s', timeout: '20s' } }, url);
  const { api, child, printed, ended } = await serve([], onTerminal);
  const arrived = once(upstream, 'request');
  const response = api.send({ path: '/api/open/x' }).catch(() => {});
  await arrived;
  child.kill('SIGINT');
  await eventually('it says so', () => printed().stderr.includes('waiting'));
  t.match(
    printed().stderr,
    /\npostern: stopping; Ctrl-C again stops at once\npostern: waiting up to 20 s for open requests and WebSockets; Ctrl-C again stops at once\n$/,
  );
  child.kill('SIGINT');
  t.match(await ended, { code: 1 });
  await response;
});

t.test('a stop that waits for nothing only says that it is over', async (t) => {
  const { serve } = createCommandFolder(t);
  const { child, ended } = await serve([], onTerminal);
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  t.equal(code, 0);
  t.match(stderr, /\npostern: stopping; Ctrl-C again stops at once\npostern: stopped\n$/);
});
