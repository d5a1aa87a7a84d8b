import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromDebian } from './installed.ts';

t.setTimeout(300_000);

t.test('Prometheus scrapes by basic_auth, is queried with a key, and has pages for people', async (t) => {
  const application = await startApplication(t, {
    recipe: 'Prometheus',
    needs: [fromDebian('prometheus'), fromDebian('promtool')],
    readyPath: '/-/ready',
    command({ folder, port, origin, key }) {
      const job = (name: string, more: string) =>
        `  - { job_name: ${name}, static_configs: [{ targets: ['${new URL(origin).host}'] }], ${more} }\n`;
      writeFileSync(
        join(folder, 'prometheus.yml'),
        `global: { scrape_interval: 200ms, scrape_timeout: 200ms }\nscrape_configs:\n` +
          job('basic', `basic_auth: { username: any, password: ${key} }`) +
          job('bearer', `authorization: { credentials: ${key} }`) +
          job('nobody', `basic_auth: { username: any, password: guessed }`),
      );
      return [
        ...([fromDebian('prometheus'), '--config.file=prometheus.yml', '--storage.tsdb.path=data'] as const),
        `--web.listen-address=127.0.0.1:${port}`,
      ];
    },
  });
  if (application === null) return;
  const { origin, key, run, clients } = application;
  writeFileSync(join(clients, 'http.yml'), `basic_auth: { username: any, password: ${key} }\n`);
  const seriesOf = async (expression: string) => {
    const { printed } = await run([
      ...([fromDebian('promtool'), 'query', 'instant'] as const),
      ...[origin.replace('//', `//any:${key}@`), expression],
    ]);
    return printed;
  };
  await eventually('two of the three are up', async () => {
    const printed = await seriesOf('up');
    return (
      /job="basic"\} => 1 /.test(printed) &&
      /job="bearer"\} => 1 /.test(printed) &&
      /job="nobody"\} => 0 /.test(printed)
    );
  });
  // The key stands in its configuration, and what it shows there is "<secret>".
  const browsing = await browse(t, application, '/classic/graph?g0.expr=up&g0.tab=1');
  if (browsing === null) return;
  // Its page adds parameters of its own.
  const { pathname, searchParams } = new URL(browsing.page.url());
  t.same(
    [pathname, searchParams.get('g0.expr')],
    ['/classic/graph', 'up'],
    'the deep link outlives the sign-in',
  );
  await browsing.page.locator('text=job="basic"').first().waitFor();
  await browsing.signOut();
  t.equal((await browsing.fetched('/api/v1/query?query=up')).status, 401);
});
