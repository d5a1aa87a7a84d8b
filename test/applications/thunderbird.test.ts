import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { startApplication } from './application.ts';
import { thunderbird } from './installed.ts';
import { connectMarionette } from './marionette.ts';
import { startProgram } from './programs.ts';
import { collections, event, radicale } from './radicale.ts';

t.setTimeout(300_000);

/** Adds the calendar, as a person would who has saved the password. */
const addCalendar = `
  const [origin, key] = args;
  const { cal } = ChromeUtils.importESModule('resource:///modules/calendar/calUtils.sys.mjs');
  const login = Cc['@mozilla.org/login-manager/loginInfo;1'].createInstance(Ci.nsILoginInfo);
  login.init(origin, null, 'apps', 'any', key, '', '');
  await Services.logins.addLoginAsync(login);
  const calendar = cal.manager.createCalendar('caldav', Services.io.newURI(origin + '/ada/tea/'));
  calendar.name = 'tea';
  calendar.setProperty('username', 'any');
  cal.manager.registerCalendar(calendar);
`;

const addEvent = `
  const { cal } = ChromeUtils.importESModule('resource:///modules/calendar/calUtils.sys.mjs');
  const { CalEvent } = ChromeUtils.importESModule('resource:///modules/CalEvent.sys.mjs');
  const calendar = cal.manager.getCalendars().find(({ name }) => name === 'tea');
  await calendar.addItem(new CalEvent(args[0]));
`;

t.test('Thunderbird’s calendar, which sends a password only once it has been offered Basic', async (t) => {
  const application = await startApplication(t, { ...radicale, needs: [...radicale.needs, thunderbird] });
  if (application === null) return;
  const { origin, key, run, clients, folder } = application;
  const calendar = `${origin}/ada/tea/`;
  t.match(await run(['curl', '-sf', '-X', 'MKCALENDAR', '-u', `any:${key}`, calendar]), { code: 0 });

  const port = guessPort();
  const preferences = {
    'marionette.port': port,
    'calendar.timezone.local': 'UTC',
    'mail.provider.suppress_dialog_on_startup': true,
    'datareporting.policy.dataSubmissionEnabled': false,
    'app.update.enabled': false,
  };
  const lines = Object.entries(preferences).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`,
  );
  writeFileSync(join(clients, 'user.js'), lines.join(''));
  const program = startProgram(t, {
    command: [
      thunderbird,
      ...['--headless', '--no-remote', '--marionette', '--remote-allow-system-access'],
      ...['--profile', clients],
    ],
    folder: clients,
  });
  const marionette = await eventually('Thunderbird is up', () => {
    program.assertRuns();
    return connectMarionette(t, port);
  });
  await marionette.run(addCalendar, [origin, key]);
  // Asked for a password twice at once, Thunderbird takes the one that it has for wrong.
  await eventually('the calendar is known', () =>
    application.gateway.logLines().some(({ method, status }) => method === 'OPTIONS' && status === 200),
  );
  await marionette.run(addEvent, [event]);
  const file = await eventually('the event is there', () =>
    globSync(join(folder, collections, 'ada/tea/*.ics')).at(0),
  );
  t.match(readFileSync(file, 'utf8'), "SUMMARY:Tea at Zoë's");
});
