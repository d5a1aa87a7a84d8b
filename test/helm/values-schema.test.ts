import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { valuesSchema } from '../../helm/values-schema.ts';

type Values = { [key: string]: unknown };

t.test('helm/values.schema.json is in step; UPDATE=1 writes it anew', async (t) => {
  const file = 'helm/values.schema.json';
  const schema = JSON.parse(JSON.stringify(valuesSchema()));
  if (process.env.UPDATE) {
    writeFileSync(file, JSON.stringify(schema, null, 2));
    execFileSync('node_modules/.bin/biome', ['format', '--write', file]);
  }
  // Not its bytes: the formatter has a say in those.
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), schema);
});

/** Every key below a schema whose keys are fixed, by its path. */
function keysOf({ properties = {} }: any, path = ''): string[] {
  return Object.entries(properties).flatMap(([key, schema]) => [
    `${path}${key}`,
    ...keysOf(schema, `${path}${key}.`),
  ]);
}

t.test('values.yaml has every key of the chart’s own', async (t) => {
  const values = parse(readFileSync('helm/values.yaml', 'utf8')) as Values;
  const handedDown = ['global', 'enabled'];
  for (const path of keysOf(valuesSchema())) {
    if (path.startsWith('config.') || handedDown.includes(path)) continue;
    // Of a provider's secret there is none before there is a provider.
    const found = path.split('.').reduce<any>((value, key) => value?.[key], values);
    t.not(found, undefined, path);
  }
});
