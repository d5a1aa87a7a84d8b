import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';
import { frontProxies } from './front-proxies.ts';
import { startRealServer } from './real-server.ts';

const file = join(import.meta.dirname, '../../docs/applications.md');

const targets = ['/a%2fb', '/a%23b', '/a%3fb', '/a%25b', '/a%2541b', '/a%5cb', '/a%3bb', '/a;b', '/a//b'];

/** The rows of the table, without its head. */
function documented(): string[][] {
  const text = readFileSync(file, 'utf8');
  const table = text.slice(text.indexOf('\n## Proxies in front'));
  return [...table.matchAll(/^\| (.*) \|$/gm)]
    .map(([, row]) => row!.split(/(?<!\\) \| /))
    .filter(([first]) => first === 'sent' || first!.startsWith('`/'));
}

t.setTimeout(300_000);

t.test('what proxies in front make of encoded characters stands in docs/applications.md', async (t) => {
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  const [head, ...rows] = documented();
  const proxies = frontProxies(upstream.url);
  t.strictSame(head, ['sent', ...proxies.map(({ name }) => name)]);
  t.strictSame(
    rows.map(([target]) => target),
    targets.map((target) => `\`${target}\``),
  );
  for (const [index, proxy] of proxies.entries())
    await t.test(proxy.name, async (t) => {
      const reason = proxy.missing();
      if (reason !== undefined) {
        t.pass(`needs ${proxy.name}`, { skip: reason });
        return;
      }
      const { port } = await startRealServer(t, proxy);
      for (const [at, target] of targets.entries()) {
        const before = upstream.seen.length;
        const connection = await connectRaw(port);
        connection.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
        const { status } = await connection.response();
        connection.reset();
        const seen = upstream.seen[before];
        const forwarded = seen?.target === target ? 'as sent' : `\`${seen?.target}\``;
        const cell = seen === undefined ? `${status}` : forwarded;
        if (process.env.UPDATE !== undefined) rows[at]![index + 1] = cell;
        t.equal(rows[at]![index + 1], cell, target);
      }
    });
  if (process.env.UPDATE === undefined) return;
  const lines = rows.map((row) => `| ${row.join(' | ')} |`);
  const text = readFileSync(file, 'utf8');
  const from = text.indexOf('\n## Proxies in front');
  const start = text.indexOf('\n| `/', from) + 1;
  const length = text.slice(start).search(/\n(?!\|)/);
  writeFileSync(file, text.slice(0, start) + lines.join('\n') + text.slice(start + length));
});
