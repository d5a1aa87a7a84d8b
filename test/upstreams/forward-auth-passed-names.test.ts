import t from 'tap';
import { askingProxies } from './asking-proxies.ts';
import { startBench } from './proxy-bench.ts';

t.setTimeout(300_000);

const role = { from: 'scope_sets', first: [{ administrator: 'Verwaltung für alle' }], encoding: 'utf8' };
const config = {
  headers: { pass: ['X-Auth-Token', 'X-Auth-Email'] },
  upstreams: { app: { url: 'builtin:echo', identity_headers: { 'X-Role': role } } },
};

for (const [name, proxy] of Object.entries(askingProxies))
  t.test(
    `${name} leaves an application’s own names and UTF-8, and nothing else that begins so`,
    async (t) => {
      const bench = await startBench(t, name, proxy, { config, isSigned: false });
      if (bench === undefined) return;
      const withKey = `X-API-Key: ${bench.key}`;
      const last = () => bench.upstream.seen.at(-1)!;
      const asAdministrator = [`Authorization: Bearer ${bench.bearer}`, 'X-Role: evil'];
      t.equal(await bench.send('GET /api/store/x HTTP/1.1', asAdministrator), 200);
      t.strictSame(last().values('x-role'), [Buffer.from('Verwaltung für alle').toString('latin1')]);
      for (const [target, lines] of [
        ['/api/store/x', [withKey]],
        ['/api/open/x', []],
      ] as const) {
        const own = ['X-Auth-Token: mine', 'x-auth-email: me'];
        t.equal(await bench.send(`GET ${target} HTTP/1.1`, [...lines, ...own]), 200, target);
        t.strictSame(last().values('x-auth-token'), ['mine']);
        t.strictSame(last().values('x-auth-email'), ['me']);
        t.strictSame(last().values('x-role').join(''), '', 'a key holds no set');
        const before = bench.upstream.seen.length;
        const spoofed = [
          'X-Auth-Role: evil',
          'X-Auth-Subject: evil',
          'X-Auth-Tokens: evil',
          'X-Auth-Issuer: evil',
        ];
        for (const line of spoofed) {
          const status = await bench.send(`GET ${target} HTTP/1.1`, [...lines, line]);
          t.ok(status === 200 || status === 400 || status === 403, `${line}: ${status}`);
        }
        const seen = bench.upstream.seen.slice(before);
        t.notMatch(JSON.stringify(seen.map(({ rawHeaders }) => rawHeaders)), /evil/, 'none of these is told');
      }
    },
  );
