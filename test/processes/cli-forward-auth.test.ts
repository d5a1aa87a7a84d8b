import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { createCommandFolder, runPostern } from '../support/gateway/command.ts';
import { testConfig } from '../support/gateway/gateway.ts';

t.test('the configuration of a proxy is printed from the running one', async (t) => {
  const { folder } = createCommandFolder(t);
  const file = join(folder, 'deciding.yaml');
  const upstreams = {
    app: { url: 'http://app.example:9000', identity_headers: { 'Remote-User': 'username' } },
  };
  const forward_auth = [
    { mode: 'nginx', port: 8081 },
    { mode: 'haproxy', host: '0.0.0.0', port: 8082 },
  ];
  writeFileSync(file, stringify({ ...testConfig(''), upstreams, forward_auth, listen: { port: 8080 } }));
  const print = (...args: string[]) => runPostern(['forward-auth', 'config', ...args, '--config', file]);

  const nginx = await print('nginx');
  t.equal(nginx.code, 0);
  for (const line of [
    'server 127.0.0.1:8081;',
    'listen 0.0.0.0:8000;',
    'proxy_pass http://app.example:9000;',
    'proxy_set_header Remote-User $postern_remote_user;',
    'proxy_set_header X-Auth-Assertion $postern_x_auth_assertion;',
    'proxy_set_header script-name "";',
    'proxy_set_header X-Original-URI $request_uri;',
    'proxy_pass http://127.0.0.1:8080;',
  ])
    t.ok(nginx.stdout.includes(`${line}\n`), line);
  t.notOk(nginx.stdout.includes('proxy_set_header remote-user "";'), 'what identifies is not deleted');

  const elsewhere = await print(
    ...['nginx', '--host', 'postern', '--service', 'http://[::1]:9001', '--listen', '127.0.0.1:80'],
  );
  for (const line of ['server postern:8081;', 'listen 127.0.0.1:80;', 'proxy_pass http://[::1]:9001;'])
    t.ok(elsewhere.stdout.includes(`${line}\n`), line);

  const both = await print('haproxy');
  t.match(both.stdout, /^# file: haproxy\.cfg\n[\s\S]*\n-- file: postern\.lua\n/);
  const byFile = (await print('haproxy', '--json')).json;
  t.strictSame(Object.keys(byFile), ['haproxy.cfg', 'postern.lua']);
  t.ok(byFile['haproxy.cfg'].includes('server decisions 127.0.0.1:8082\n'));

  t.match(await print('caddy'), { code: 2, stderr: /forward_auth has no listener with mode caddy/ });
  t.match(await print('apache'), { code: 2, stderr: /the proxy must be one of nginx, ingress-nginx, / });
  const hosts = ['https://wiki.acme.example.com'];
  const forBrowsers = { web: {}, hosts, forward_auth: [{ mode: 'envoy', port: 8081, browser: true }] };
  writeFileSync(file, stringify({ ...testConfig(''), ...forBrowsers, upstreams, listen: { port: 8080 } }));
  t.match((await print('envoy')).stdout, /domains:\n +- wiki\.acme\.example\.com\n/);
  t.match(await print('gateway-api'), {
    code: 2,
    stderr: /gateway-api can't be printed for a listener with browser/,
  });
  const ofIngress = { ...forBrowsers, forward_auth: [{ mode: 'ingress_nginx', port: 8081 }] };
  writeFileSync(file, stringify({ ...testConfig(''), ...ofIngress, upstreams, listen: { port: 8080 } }));
  t.match(await print('ingress-nginx'), { code: 2, stderr: /ingress-nginx can't tell hosts apart/ });
  writeFileSync(file, stringify({ ...testConfig(''), upstreams, forward_auth, listen: { port: 8080 } }));
  for (const [option, value] of [
    ['--service', 'app'],
    ['--service', 'unix:/run/app'],
    ['--service', 'http://app/x'],
    ['--listen', '8000'],
    ['--listen', ':8000'],
    ['--listen', '0.0.0.0:80000'],
    ['--host', 'https://postern'],
    ['--host', 'postern:8081'],
  ] as const)
    t.match(await print('nginx', option, value), { code: 2, stderr: / must be / }, `${option} ${value}`);
});
