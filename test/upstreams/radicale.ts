import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { missingPython, python } from './program-paths.ts';
import type { ServerKind } from './real-server.ts';

/**
 * Radicale, a calendar server that takes the user of a header: `X-Remote-User` with `http_x_remote_user`. It records
 * nothing; whose calendars it gives and refuses is what tells whom it believes to be calling. It refuses at once: a
 * delay would be a second each.
 */
export const radicale: ServerKind = {
  name: 'Radicale',
  missing: missingPython,
  isReady: (port) => fetch(`http://127.0.0.1:${port}/.web/`).then(({ status }) => status < 500),
  processes({ folder, port }) {
    const config = join(folder, 'radicale.ini');
    const collections = join(folder, 'collections');
    mkdirSync(collections);
    writeFileSync(
      config,
      `[server]
hosts = 127.0.0.1:${port}
[auth]
type = http_x_remote_user
delay = 0
[rights]
type = owner_only
[storage]
filesystem_folder = ${collections}
[logging]
level = warning
`,
    );
    return [{ command: [python, '-m', 'radicale', '--config', config] }];
  },
};
