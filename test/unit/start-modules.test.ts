import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';

t.test('what serves loads no HTTP client of Node’s own', async (t) => {
  const program = `
    await import(${JSON.stringify(new URL('../../src/serve/start-gateway.ts', import.meta.url))});
    console.log(process.moduleLoadList.filter((name) => name.includes('undici')).length);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  t.equal(
    stdout,
    '0\n',
    'an import of node:http would, at 50 ms of CPU a start: src/http1/message/node-http.ts',
  );
});
