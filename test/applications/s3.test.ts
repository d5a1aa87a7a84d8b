import { join } from 'node:path';
import t from 'tap';
import { startApplication } from './application.ts';
import { fromPyPI } from './installed.ts';

t.setTimeout(300_000);

t.test('S3: boto3 signs for moto, which verifies what has come through', async (t) => {
  const application = await startApplication(t, {
    recipe: 'S3',
    needs: [fromPyPI('moto_server')],
    readyPath: '/moto-api/',
    command: ({ port }) => [fromPyPI('moto_server'), '-H', '127.0.0.1', '-p', `${port}`],
  });
  if (application === null) return;
  const { origin, port, run } = application;
  const script = join(import.meta.dirname, 'programs/s3_client.py');
  const { code, printed } = await run([fromPyPI('python'), script, origin, `http://127.0.0.1:${port}`]);
  t.equal(code, 0, printed);
  t.match(printed, /all well/);
  t.match(application.sent(), /^Authorization: AWS4-HMAC-SHA256 /im);
});
