import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { navigation } from '../pages/web.ts';
import { startRecordingUpstream } from '../servers/recording-upstream.ts';
import { untilListening, watchCommand } from './command.ts';

const password = 'correct horse battery staple';

/**
 * Has an installed Postern do what a newcomer does first: started in a new folder below `folder`, in front of a service, with
 * `path` as its PATH and nothing else of this environment, it activates an administrator, signs in and forwards a request of
 * theirs with their name. Then it ends by SIGTERM.
 */
export async function tryInstalled(t: Test, program: string, folder: string, path: string): Promise<void> {
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  const cwd = join(folder, 'an empty folder');
  mkdirSync(cwd);
  const args = ['serve', '--upstream', `:${new URL(upstream.url).port}`, '--listen', ':0'];
  const child = spawn(program, args, { cwd, env: { PATH: path, HOME: cwd } });
  const { api, printed, ended } = await untilListening(t, watchCommand(child));
  const [, token = ''] = /activate#token=(\S+)/.exec(printed().stderr) ?? [];
  t.equal((await api.activate('ada', password, token)).status, 201, 'a password is hashed');
  const { accessToken: bearer } = await api.signIn('ada', password);
  t.match(await api.send({ path: '/', headers: navigation }), { status: 302 }, 'a sign-in page');
  t.equal((await api.send({ path: '/orders', bearer })).status, 200);
  const seen = upstream.seen.map((each) => [each.target, ...each.values('x-auth-username')]);
  const isProbe = ([target = '']: string[]) => /^(?:\/[^/]+)*\/data\/[0-9a-f]{16}\.yaml$/.test(target);
  t.ok(seen.some(isProbe), 'before it starts, the service is asked for a file of the trial');
  t.strictSame(
    seen.filter((each) => !isProbe(each)),
    [['/orders', 'ada']],
  );
  child.kill('SIGTERM');
  t.equal((await ended).code, 0);
}
