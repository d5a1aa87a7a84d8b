import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';

const folder = 'examples/compose';
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const compose = parse(read('compose.yaml'), { merge: true });
const services = Object.entries<any>(compose.services);
const stores = readFileSync('docs/stores.md', 'utf8');

/** Runs make-secrets.sh in a copy of the example; the folder of the secrets, and a function that runs it again. */
function makeSecrets(t: Test): { readonly secrets: string; readonly again: () => void } {
  const copy = mkdtempSync(join(tmpdir(), 'postern-compose-'));
  t.teardown(() => rmSync(copy, { recursive: true, force: true }));
  copyFileSync(join(folder, 'make-secrets.sh'), join(copy, 'make-secrets.sh'));
  const again = () => {
    const { status, stderr } = spawnSync('sh', [join(copy, 'make-secrets.sh')]);
    t.equal(status, 0, String(stderr));
  };
  again();
  return { secrets: join(copy, 'secrets'), again };
}

t.test('every service is confined, watched and stopped in time', async (t) => {
  for (const [name, service] of services) {
    t.match(service, { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }, name);
    t.ok(service.healthcheck.test.length > 1, `${name} has a health check`);
    t.notOk(service.privileged ?? service.cap_add ?? service.network_mode ?? service.pid, name);
    // The gateway's image says itself who runs it.
    t.ok(
      name === 'gateway' || !['root', '0', undefined].includes(service.user),
      `${name} runs as ${service.user}`,
    );
  }
});

t.test('only the gateway reaches the service and the stores, and is reached', async (t) => {
  const membersOf = (network: string) =>
    services.filter(([, { networks }]) => networks.includes(network)).map(([name]) => name);
  t.strictSame(membersOf('service'), ['gateway', 'service']);
  t.strictSame(membersOf('stores'), ['gateway', 'postgres', 'redis']);
  t.strictSame(membersOf('clients'), ['gateway']);
  t.match(compose.networks, { service: { internal: true }, stores: { internal: true } });
  const published = services.filter(([, { ports }]) => ports !== undefined);
  t.strictSame(
    published.map(([name, { ports }]) => [name, ports]),
    [['gateway', ['127.0.0.1:8080:8080']]],
  );
  t.strictSame(Object.keys(compose.services.gateway.depends_on), ['service', 'postgres', 'redis']);
});

t.test('mounted files exist, and declared volumes and secrets are used', async (t) => {
  const { secrets, again } = makeSecrets(t);
  const used = services.flatMap(([, service]) => service.secrets ?? []);
  t.strictSame([...new Set(used)].sort(), Object.keys(compose.secrets).sort());
  for (const { file } of Object.values<any>(compose.secrets))
    t.ok(existsSync(join(secrets, '..', file)), file);
  const volumes = services.flatMap(([, service]) => service.volumes ?? []) as string[];
  for (const [source = ''] of volumes.map((volume) => volume.split(':')))
    t.ok(source.startsWith('./') ? existsSync(join(folder, source)) : source in compose.volumes, source);

  t.equal(statSync(secrets).mode & 0o777, 0o700, 'no one else enters the folder');
  t.equal(statSync(join(secrets, 'records')).mode & 0o777, 0o644, 'every container reads its own');
  const before = readFileSync(join(secrets, 'sessions'), 'utf8');
  t.match(before, /^[0-9a-f]{48}\n$/);
  again();
  t.equal(readFileSync(join(secrets, 'sessions'), 'utf8'), before, 'a second run keeps them');
});

t.test('the users of the stores are those of the documentation', async (t) => {
  const { secrets } = makeSecrets(t);
  const acl = readFileSync(join(secrets, 'redis_acl'), 'utf8').replace(/#[0-9a-f]{64} /, '#<hash> ');
  t.ok(stores.includes(acl.replace(/^/gm, '    ').trimEnd()), acl);
  for (const statement of [
    /CREATE ROLE postern LOGIN PASSWORD/,
    /CREATE SCHEMA acme AUTHORIZATION postern;/,
  ]) {
    t.match(stores, statement);
    t.match(read('postgres-role.sh'), statement);
  }
});

t.test('postern check is content with the configuration, whose addresses are services', async (t) => {
  const { secrets } = makeSecrets(t);
  const text = read('gateway/postern.yaml');
  const { stores, upstreams } = parse(text);
  for (const address of [stores.records, stores.sessions, upstreams.notes.url])
    t.ok(new URL(address).hostname in compose.services, address);
  const files = [...text.matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name]) => name);
  t.strictSame(files, compose.services.gateway.secrets);
  const file = join(secrets, 'postern.yaml');
  writeFileSync(file, text.replaceAll('/run/secrets', secrets));
  t.strictSame(loadConfig(file, {}).problems ?? [], []);
});
