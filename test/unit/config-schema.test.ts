import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isMap, isSeq, type Pair, parse, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { configJsonSchema } from '../../src/config/json-schema.ts';
import { loadConfig } from '../../src/config/load.ts';
import { makeCertificate } from '../support/servers/certificates.ts';

interface Schema {
  type?: string;
  description?: string;
  default?: unknown;
  writeOnly?: boolean;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
  items?: Schema;
  anyOf?: Schema[];
  $ref?: string;
}

const root = configJsonSchema() as Schema;
const reference = 'config/reference.yaml';
const env = {
  POSTERN_IDP_SECRET: 'secret',
  POSTERN_POSTGRES_PASSWORD: 'secret',
  POSTERN_REDIS_PASSWORD: 'secret',
  POSTERN_SENTINEL_PASSWORD: 'secret',
};

t.test('docs/config.schema.json is up to date; UPDATE=1 rewrites it', async (t) => {
  const file = 'docs/config.schema.json';
  const text = `${JSON.stringify(root, null, 2)}\n`;
  if (process.env.UPDATE) writeFileSync(file, text);
  t.equal(readFileSync(file, 'utf8'), text);
});

/** Every key of the schema below `schema`, by its path; a name that is free is `*`, an item of a list `[]`. */
function keysOf(schema: Schema, path: string): [path: string, schema: Schema][] {
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([key, sub]): [string, Schema][] => [
      [`${path}.${key}`, sub],
      ...keysOf(sub, `${path}.${key}`),
    ]),
    ...(schema.additionalProperties ? keysOf(schema.additionalProperties, `${path}.*`) : []),
    ...(schema.items ? keysOf(schema.items, `${path}[]`) : []),
  ];
}

const keys = new Map(keysOf(root, ''));

t.test('every key says what it means', async (t) => {
  t.ok(keys.size > 100);
  for (const [path, { description }] of keys) t.match(description, /^\S.*\.$/, path);
});

t.test('every scalar may come from outside the file', async (t) => {
  const scalars = [...keys].filter(([, { type, anyOf }]) => type === undefined && anyOf);
  t.ok(scalars.length > 80);
  for (const [path, schema] of scalars) t.match(JSON.stringify(schema.anyOf), /outside_value/, path);
  for (const [path, { type }] of keys)
    t.match(type ?? 'object', /^(object|array)$/, `${path} is a plain scalar`);
});

t.test('keys that may hold a secret are marked', async (t) => {
  const secrets = [...keys].filter(([, { writeOnly }]) => writeOnly).map(([path]) => path);
  t.strictSame(secrets, [
    '.stores.records',
    '.stores.records_password',
    '.stores.sessions',
    '.stores.sessions_password',
    '.stores.sessions_sentinel_password',
    '.bootstrap.token',
    '.users.*.password_hash',
    '.identity_providers.*.client_secret',
    '.upstreams.*.assertion.secret',
    '.forward_auth[].assertion.secret',
  ]);
});

t.test('the reference configuration', async (t) => {
  const text = readFileSync(reference, 'utf8');

  t.test('loads without problem', async (t) => {
    const logo = '<svg xmlns="http://www.w3.org/2000/svg"/>';
    const secrets = { app: 'x'.repeat(32) };
    const folder = t.testdir({ config: { 'reference.yaml': text, 'logo.svg': logo, tls: {}, secrets } });
    const tls = join(folder, 'config/tls');
    for (const name of [
      'public',
      'records',
      'sessions',
      'app',
      'records-ca',
      'sessions-ca',
      'app-ca',
      'clients-ca',
    ])
      makeCertificate(tls, name, ['DNS:localhost']);
    mkdirSync(join(folder, 'config/keys'));
    writeFileSync(join(folder, 'config/keys/2026-11.key'), randomBytes(32));
    t.strictSame(loadConfig(join(folder, 'config/reference.yaml'), env).problems ?? [], []);
  });

  t.test('is valid by the JSON Schema too', async (t) => {
    const schema = z.fromJSONSchema(root as Parameters<typeof z.fromJSONSchema>[0]);
    t.strictSame(schema.safeParse(parse(text)).error?.issues, undefined);
    t.notOk(schema.safeParse({ ...parse(text), nope: 1 }).success);
  });

  // It excludes web.console.base_url, so it is there as a comment.
  const comments = commentsIn(text.replace('    # domain:', '    domain:'));
  for (const [path, schema] of keys)
    t.test(`has ${path.slice(1)} with its meaning and default`, async (t) => {
      const comment = comments.get(path);
      t.ok(comment !== undefined, 'is there');
      t.ok(comment?.startsWith(schema.description!), `${comment} / ${schema.description}`);
      const shown = / Default: (.*)\.$/.exec(comment ?? '')?.[1];
      if (schema.properties) t.equal(shown, undefined);
      else t.strictSame(shown === undefined ? undefined : parse(shown), schema.default);
    });
});

/** The comment before the first occurrence of each key, by the paths of {@link keysOf}. */
function commentsIn(text: string): Map<string, string> {
  const lines = text.split('\n');
  const comments = new Map<string, string>();
  visit(parseDocument(text), {
    Pair(_, pair, ancestors) {
      const offset = (pair.key as { range: [number, number, number] }).range[0];
      const path = pathOf(pair, ancestors);
      if (comments.has(path)) return;
      const row = text.slice(0, offset).split('\n').length - 1;
      const above: string[] = [];
      for (let at = row - 1; /^[\s-]*# /.test(lines[at] ?? ''); at -= 1)
        above.unshift(lines[at]!.replace(/^[\s-]*# /, ''));
      comments.set(path, above.join(' '));
    },
  });
  return comments;
}

function pathOf(pair: Pair, ancestors: readonly unknown[]): string {
  let path = '';
  let schema: Schema | undefined = root;
  for (const node of [...ancestors, pair] as unknown[]) {
    if (isSeq(node)) {
      path += '[]';
      schema = schema?.items;
    } else if (node instanceof Object && 'key' in node && !isMap(node)) {
      const name = String(node.key);
      const known: Schema | undefined = schema?.properties?.[name];
      path += known ? `.${name}` : '.*';
      schema = known ?? (schema?.additionalProperties || undefined);
    }
  }
  return path;
}
