import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApplicationKind } from './application.ts';
import { fromPyPI } from './installed.ts';

/** An event, as calendars send it. */
export const event: string = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//test//
BEGIN:VEVENT
UID:tea
DTSTAMP:20260101T000000Z
DTSTART:20260102T150000Z
DTEND:20260102T160000Z
SUMMARY:Tea at Zoë's
END:VEVENT
END:VCALENDAR
`.replaceAll('\n', '\r\n');

/** Radicale, as its recipe has it. */
export const radicale: ApplicationKind = {
  recipe: 'Radicale',
  needs: [fromPyPI('radicale')],
  readyPath: '/.web/',
  command({ folder, port }) {
    const lines = [
      `[server]\nhosts = 127.0.0.1:${port}`,
      '[auth]\ntype = http_x_remote_user\ndelay = 0',
      '[rights]\ntype = owner_only',
      `[storage]\nfilesystem_folder = ${folder}`,
    ];
    writeFileSync(join(folder, 'config'), `${lines.join('\n')}\n`);
    return [fromPyPI('radicale'), '--config', join(folder, 'config')];
  },
};

/** The files of a user's calendars are below this folder, in that of Radicale. */
export const collections = 'collection-root';
