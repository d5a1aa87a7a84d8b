import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';
import { quickstartLines } from '../../src/cli/serve/quickstart-lines.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const quickStart = readme.slice(readme.indexOf('## Quick start'), readme.indexOf('## In front of'));
const url = 'http://127.0.0.1:8080';
const token = 'THE-TOKEN-PRINTED-AT-START';
const password = 'THE-PASSWORD-PRINTED-AT-START';

function blocks(language: string): string[] {
  return [...quickStart.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, text]) => text!,
  );
}

/** The names and kinds of a value, whatever its texts and numbers are. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (value === null || typeof value !== 'object') return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

t.test('the README shows the lines that the quick start prints', async (t) => {
  const pages = { start: '/', activation: '/postern/activate' };
  const printed = quickstartLines({ url, pages }, { bootstrapToken: token, password }).map((line) =>
    line.replace(/^ {2}/, ''),
  );
  const from = printed.findIndex((line) => line.startsWith('URL='));
  t.equal(blocks('sh')[1]!.trim(), printed.slice(from).join('\n').trim());
});

t.test('the lines of the README print what it says they print', async (t) => {
  const gateway = await startTestGateway(t, {
    config: {
      base_url: url,
      tenant: 'quickstart',
      bootstrap: { token: 'another-token-of-the-tests' },
    },
  });
  const port = String(gateway.port);
  gateway.upstream.response = (request, response) => {
    const headers = [];
    for (let i = 0; i < request.rawHeaders.length; i += 2) headers.push(request.rawHeaders.slice(i, i + 2));
    const { method, url: target } = request;
    response.end(JSON.stringify({ method, target, headers, body: '', body_length: 0 }));
  };
  const script = blocks('sh')[1]!
    .replace(url, `http://127.0.0.1:${port}`)
    .replace(token, 'another-token-of-the-tests');
  const { stdout } = await promisify(execFile)('bash', ['-c', script]);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const shown = blocks('json')[0]!
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.same(lines.map(shapeOf), shown.map(shapeOf));
  t.same(
    lines[1].headers.map(([name]: [string]) => name),
    shown[1].headers.map(([name]: [string]) => name),
    'the upstream sees the same headers',
  );
});
