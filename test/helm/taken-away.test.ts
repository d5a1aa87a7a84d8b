import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { chart, renderText, requireHelm } from './helm.ts';

/** Every list and section of some values, and what is in a section of the configuration, by their paths. */
function pathsOf(values: object, path = ''): string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const here = `${path}${key}`;
    if (value === null || typeof value !== 'object') return path.startsWith('config.') ? [here] : [];
    return Array.isArray(value) ? [here] : [here, ...pathsOf(value, `${here}.`)];
  });
}

/** What helm says of these values without that key. */
function saidWithout(path: string, file: string): string {
  try {
    renderText(['shop', chart, '--values', file, '--set', `${path}=null`]);
    return 'rendered';
  } catch (error) {
    return (error as Error).message;
  }
}

t.test('a key that null takes away is done without, or missed with a sentence', async (t) => {
  if (!requireHelm(t)) return;

  t.test('sections', async (t) => {
    const file = 'helm/ci/gateway-values.yaml';
    for (const path of ['image', 'config.shutdown', 'secrets', 'secrets.bootstrapToken', 'service'])
      t.match(saidWithout(path, file), new RegExp(`: ${path.split('.').at(-1)} is required`), path);
    for (const path of ['image.tag', 'extraArgs', 'podLabels', 'persistence.annotations'])
      t.equal(saidWithout(path, file), 'rendered', path);
  });

  t.test('every list and section', async (t) => {
    const values = parse(readFileSync('helm/values.yaml', 'utf8'));
    const { sidecar, persistence } = values;
    // A gateway has most of it in use, and a sidecar the rest.
    const inUse = {
      'helm/ci/gateway-production-values.yaml': pathsOf(values),
      'helm/ci/sidecar-values.yaml': pathsOf({ sidecar, persistence }),
    };
    for (const [file, paths] of Object.entries(inUse))
      for (const path of paths)
        t.notMatch(saidWithout(path, file), /nil pointer|executing "/, `${path} of ${file}`);
  });
});
