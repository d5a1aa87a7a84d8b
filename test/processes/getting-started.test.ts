import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { createApiClient } from '../support/clients/api-client.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { createSecretWatch } from '../support/gateway/secret-watch.ts';
import { navigation } from '../support/pages/web.ts';
import { createMachine, releasedArchive } from '../support/programs/machine.ts';
import { type AcmeServer, hasAcmePrograms, startAcmeServer } from '../support/servers/acme-server.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/getting-started.md'), 'utf8');
const password = 'correct horse battery staple';

/** The blocks of a section, by its heading. */
function blocksOf(heading: string, language = 'sh'): string[] {
  const [, section] = new RegExp(`^## ${heading}\n([\\s\\S]*?)(?=^## |(?![\\s\\S]))`, 'm').exec(guide)!;
  return [...section!.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text]) => text!,
  );
}

/** A certificate authority, at full size; Caddy and certbot are stood in for without one. */
async function acmeServer(t: Test, ports: { 80: number; 443: number }): Promise<AcmeServer | undefined> {
  if (!isLong) return undefined;
  if (hasAcmePrograms) return startAcmeServer(t, { http: ports[80], https: ports[443] });
  t.pass('certificates of an authority', {
    skip: 'test/upstreams/install.sh has not brought Pebble and certbot',
  });
  return undefined;
}

t.setTimeout(isLong ? 600_000 : 280_000);

t.test('docs/getting-started.md, command by command', async (t) => {
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  const first = guessPort();
  const ports = {
    9000: Number(new URL(upstream.url).port),
    8080: first,
    443: first + 1,
    80: first + 2,
    9090: first + 3,
  };
  const acme = await acmeServer(t, ports);
  const machine = createMachine(t, ports, { acme, archive: releasedArchive(t) });
  const ran = new Set<string>();
  const runSection = async (heading: string, input = '') => {
    const printed: string[] = [];
    for (const block of blocksOf(heading)) {
      ran.add(block);
      // The strictest that root may have: the service's user reads the program and its configuration all the same.
      printed.push(await machine.run(`umask 077\n${block}`, { input }));
    }
    return printed;
  };
  const api = createApiClient(first, createSecretWatch());
  const names = async () =>
    JSON.parse(await machine.run('postern user list --json')).map(({ username }: any) => username);

  machine.makeArchive('postern-0.1.0-linux-x64');
  await runSection('1\\. Install');
  const next = (await runSection('2\\. Configure')).join('');
  t.match(
    next,
    /Next:\n\n {2}postern serve .*\n[\s\S]*no problems/,
    'it says what comes next, as the guide does',
  );
  // `init` has written a port that was free, and other tests may take it meanwhile.
  const configured = join(machine.folder, 'etc/postern/postern.yaml');
  const [, chosen] = /^management: \{ host: 127\.0\.0\.1, port: (\d+) \}$/m.exec(
    readFileSync(configured, 'utf8'),
  )!;
  writeFileSync(
    configured,
    readFileSync(configured, 'utf8').replace(`port: ${chosen}`, `port: ${ports[9090]}`),
  );
  await runSection('3\\. Run it');
  const [update, curl, , user] = machine.calls();
  t.strictSame([update, curl], ['apt-get update', 'apt-get install -y curl'], 'a fresh Debian has neither');
  t.match(user, /^useradd --system .* postern$/, 'the user comes before the rest');
  for (const path of [
    'opt/postern',
    'etc/postern',
    'usr/local/bin/postern',
    'etc/systemd/system/postern.service',
  ])
    t.equal(statSync(join(machine.folder, path)).mode & 0o044, 0o044, `everyone can read ${path}`);
  t.equal(statSync(configured).mode & 0o777, 0o644);
  t.ok(
    existsSync(join(machine.folder, 'var/lib/postern/postern.db')),
    'the stores are where the unit may write',
  );
  const opened = await api.send({ path: '/', headers: { ...navigation, Host: 'stock.example.com' } });
  t.match(opened, { status: 302, headers: { location: '/postern/sign-in?return_to=%2F' } });

  await runSection('4\\. A certificate');
  t.equal(
    machine.read('etc/caddy/Caddyfile'),
    readFileSync('examples/systemd/Caddyfile', 'utf8')
      .replace(/^#.*\n/, '')
      .replace('8080', `${first}`),
  );
  const invitation = (await runSection('5\\. People', `${password}\n`)).at(-1)!;
  t.match(invitation, /https:\/\/stock\.example\.com\/postern\/invitation#token=[\w-]{32}\n/);
  t.ok((await api.signIn('ada', password)).accessToken, 'the administrator can sign in');

  await runSection('6\\. A key for a cron job');
  t.strictSame(
    upstream.seen.map((seen) => [seen.target, ...seen.values('x-auth-username')]),
    [['/report', 'nightly']],
  );
  t.match(machine.read('etc/cron.d/nightly'), /^15 3 \* \* \* root curl .*\/report\n$/);

  const [looked] = await runSection('7\\. Look after it');
  t.match(looked, /"records":\{"ok":true/);
  await runSection('8\\. Back up');
  await machine.run('postern user add mallory --scopes access --without-password');
  t.strictSame(await names(), ['ada', 'grace', 'mallory', 'nightly']);
  const before = machine.calls().length;
  await runSection('10\\. Restore');
  const after = machine.calls().length;
  t.strictSame(
    machine
      .calls()
      .slice(before, after)
      .filter((call) => !call.startsWith('  '))
      .map((call) => call.split(' -- ')[0]),
    ['systemctl stop postern', 'runuser -u postern', '', 'systemctl start postern'],
    'root touches no file in folders of the service',
  );
  t.strictSame(await names(), ['ada', 'grace', 'nightly'], 'as it was at the backup');
  await machine.run('postern user add mallory --scopes access --without-password');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await runSection('10\\. Restore');
  t.strictSame(await names(), ['ada', 'grace', 'nightly'], 'and so it is the second time');
  const stores = readdirSync(join(machine.folder, 'var/lib/postern'));
  t.equal(
    stores.filter((name) => name.startsWith('replaced')).length,
    2,
    'what was replaced is kept each time',
  );

  machine.makeArchive('postern-0.2.0-linux-x64');
  for (let upgrade = 0; upgrade < 2; upgrade += 1) await runSection('9\\. Upgrade');
  t.equal(readdirSync(join(machine.folder, 'opt')).sort().join(' '), 'postern postern.old');
  t.equal(readdirSync(join(machine.folder, 'var/lib/postern-backup')).length, 3);
  t.strictSame(await names(), ['ada', 'grace', 'nightly']);

  await machine.run('systemctl stop caddy');
  const [certbot, restart] = blocksOf('Without Caddy: certbot');
  await machine.run(certbot!);
  const { trusted_proxies: _, ...config } = parse(readFileSync(configured, 'utf8'));
  const listen = parse(blocksOf('Without Caddy: certbot', 'yaml')[0]!).listen;
  writeFileSync(
    configured,
    stringify({ ...config, listen: { ...listen, port: ports[443] } }).replace(
      /^management:\n {2}host: (.*)\n {2}port: (.*)$/m,
      'management: { host: $1, port: $2 }',
    ),
  );
  await machine.run(restart!);
  const ca =
    acme === undefined
      ? machine.read('etc/letsencrypt/live/stock.example.com/fullchain.pem')
      : readFileSync(acme.rootFile, 'utf8');
  const headers = { 'X-API-Key': /X-API-Key: (\S+)/.exec(machine.read('root/nightly.header'))![1]! };
  const target = { port: ports[443], servername: 'stock.example.com', ca, path: '/report', headers };
  const statusAt = (host: string) =>
    new Promise((resolve, reject) => {
      request({ ...target, host }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
  const local = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  for (const host of ['127.0.0.1', '::1'].filter((one) => local.some(({ address }) => address === one)))
    t.equal(await statusAt(host), 200, `over TLS at ${host}, by the certificate that the hook has put there`);
  for (const block of [certbot!, restart!]) ran.add(block);
  const all = [...guide.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text]) => text!);
  t.strictSame(
    all.filter((block) => !ran.has(block)),
    [],
    'every command was run',
  );
});
