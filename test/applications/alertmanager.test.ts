import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startApplication } from './application.ts';
import { fromDebian } from './installed.ts';

t.setTimeout(300_000);

t.test('Alertmanager: amtool has a key in the URL, or in a file', async (t) => {
  const application = await startApplication(t, {
    recipe: 'Prometheus',
    needs: [fromDebian('prometheus-alertmanager'), fromDebian('amtool')],
    readyPath: '/-/ready',
    command({ folder, port }) {
      writeFileSync(
        join(folder, 'alertmanager.yml'),
        'route: { receiver: none }\nreceivers: [{ name: none }]\n',
      );
      return [
        ...([fromDebian('prometheus-alertmanager'), '--config.file=alertmanager.yml'] as const),
        ...['--storage.path=data', '--cluster.listen-address=', `--web.listen-address=127.0.0.1:${port}`],
      ];
    },
  });
  if (application === null) return;
  const { origin, key, run, clients } = application;
  const amtool = (url: string, ...args: string[]) =>
    run([fromDebian('amtool'), `--alertmanager.url=${url}`, ...args]);
  const withUser = (password: string) => origin.replace('//', `//any:${password}@`);
  const added = await amtool(withUser(key), 'alert', 'add', 'TeaIsCold', 'room=kitchen');
  t.equal(added.code, 0, added.printed);
  t.match(await amtool(withUser(key), 'alert', 'query'), { code: 0, printed: 'TeaIsCold' });
  t.match(await amtool(withUser('guessed'), 'alert', 'query'), { code: 1, printed: /401/ });
  t.match(await amtool(origin, 'alert', 'query'), { code: 1, printed: /401/ });
  writeFileSync(join(clients, 'http.yml'), `basic_auth: { username: any, password: ${key} }\n`);
  t.match(await amtool(origin, '--http.config.file=http.yml', 'alert', 'query'), {
    code: 0,
    printed: 'TeaIsCold',
  });
});
