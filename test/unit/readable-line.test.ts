import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import { createLogOn, type LogSettings } from '../../src/log/log.ts';

const request = {
  method: 'GET',
  path: '/api/store/1',
  route: '/api/store',
  status: 200,
  durationMs: 3.1256,
  outcome: 'ok',
  subject: 'u-1',
  credentialKind: 'key',
  credentialId: 'k-1',
  requestId: 'r-1',
  decidedFor: '',
  address: '127.0.0.1',
  clientCertificate: null,
  bytesIn: 0,
  bytesOut: 2,
  reason: '',
  upstreamFailure: null,
  otherName: null,
} as const;

/** What is written with those settings, without the times. */
function written(
  settings: Partial<LogSettings>,
  isTerminal: boolean,
  log: (log: ReturnType<typeof createLogOn>) => void,
) {
  let text = '';
  const write = (line: string) => {
    text += line;
  };
  log(createLogOn({ write }, { level: 'info', ...settings }, { isTerminal }));
  return isTerminal ? text : withoutTimes(text);
}

const withoutTimes = (text: string) => text.replace(/^\d\d:\d\d:\d\d\.\d{3} {2}/gm, '');

const rows: [sentence: string, log: (log: ReturnType<typeof createLogOn>) => void, text: string][] = [
  ['a request', (log) => log.access(request), '200  GET /api/store/1  3.1 ms  key k-1  from 127.0.0.1\n'],
  [
    'one whose upstream failed',
    (log) =>
      log.access({
        ...request,
        status: 502,
        outcome: 'upstream_unavailable',
        reason: 'connect refused',
        upstreamFailure: {
          upstream: 'app',
          address: '127.0.0.1:9000',
          errno: 'ECONNREFUSED',
          phase: 'connect',
        },
      }),
    '502  GET /api/store/1  upstream_unavailable: connect refused  at app 127.0.0.1:9000 (connect, ECONNREFUSED)  3.1 ms  key k-1  id r-1  from 127.0.0.1\n',
  ],
  [
    'one that was refused before its path was checked',
    (log) =>
      log.access({
        ...request,
        path: '',
        route: '',
        status: 400,
        outcome: 'bad_request',
        reason: 'path holds %2f',
        credentialKind: '',
      }),
    '400  GET -  bad_request: path holds %2f  3.1 ms  id r-1  from 127.0.0.1\n',
  ],
  [
    'one under another name than base_url',
    (log) =>
      log.access({
        ...request,
        method: 'POST',
        path: '/postern/sign-in',
        status: 403,
        outcome: 'cross_site',
        reason: 'another name than base_url',
        otherName: {
          header: 'origin',
          sent: 'http://10.0.0.5:8080',
          expected: 'https://stock.example.com',
        },
        credentialKind: '',
      }),
    '403  POST /postern/sign-in  cross_site: origin http://10.0.0.5:8080 is not base_url https://stock.example.com  3.1 ms  id r-1  from 127.0.0.1\n',
  ],
  [
    'one for another machine',
    (log) =>
      log.access({
        ...request,
        path: '',
        status: 421,
        outcome: 'misdirected',
        reason: 'host of another machine',
        otherName: { header: 'host', sent: 'a\u001b[2Jb', expected: 'http://127.0.0.1:8080' },
        credentialKind: '',
      }),
    '421  GET /api/store  misdirected: host of another machine  3.1 ms  id r-1  from 127.0.0.1  host=a\\u{1b}[2Jb  base_url=http://127.0.0.1:8080\n',
  ],
  [
    'one without a response',
    (log) => log.access({ ...request, status: 0, outcome: 'client_aborted' }),
    '---  GET /api/store/1  client_aborted  3.1 ms  key k-1  id r-1  from 127.0.0.1\n',
  ],
  [
    'an audit line',
    (log) =>
      log.audit({
        event: 'login_failed',
        outcome: 'failure',
        actor: { user: null, kind: 'anonymous' },
        subject: null,
        address: '127.0.0.1',
        requestId: 'r-2',
        reason: 'too_many_attempts',
      }),
    'audit  login_failed  failure  by anonymous  reason=too_many_attempts  from 127.0.0.1\n',
  ],
  [
    'people by name, once an event has told it',
    (log) => {
      const actor = { user: 'u-1', session: 's-1', kind: 'session' } as const;
      const event = { event: 'user_disabled', outcome: 'success', address: null, requestId: null } as const;
      log.audit({ ...event, actor, subject: 'u-2' });
      log.audit({ ...event, actor, subject: 'u-2', names: { 'u-1': 'mara', 'u-2': 'ada \u001b' } });
      log.audit({ ...event, actor: { ...actor, kind: 'api_key' }, subject: 'u-2' });
    },
    `audit  user_disabled  by session of u-1  subject=u-2
audit  user_disabled  by mara  subject="ada \\u001b"
audit  user_disabled  by api key of mara  subject="ada \\u001b"
`,
  ],
  [
    'a name that reads like other authors or fields',
    (log) => {
      const names = {
        'u-1': 'Command_Line',
        'u-2': 'bootstrap token',
        'u-3': 'ada  scopes +administrator  from ::1',
        'u-4': '\u3164',
        'u-5': 'ada.l@x-y+z',
      };
      for (const user of Object.keys(names))
        log.audit({
          event: 'user_disabled',
          outcome: 'success',
          actor: { user, session: 's-1', kind: 'session' },
          subject: 'u-3',
          names,
          address: null,
          requestId: null,
        });
    },
    ['"Command_Line"', '"bootstrap token"', null, '"\\u{3164}"', 'ada.l@x-y+z']
      .map((by) =>
        by === null
          ? 'audit  user_disabled  by "ada  scopes +administrator  from ::1"\n'
          : `audit  user_disabled  by ${by}  subject="ada  scopes +administrator  from ::1"\n`,
      )
      .join(''),
  ],
  [
    'the first administrator, who had the activation token',
    (log) =>
      log.audit({
        event: 'user_created',
        outcome: 'success',
        actor: { user: null, kind: 'anonymous' },
        subject: 'u-1',
        names: { 'u-1': 'mara' },
        address: '127.0.0.1',
        requestId: 'r-2',
      }),
    'audit  user_created  by bootstrap token  subject=mara  from 127.0.0.1\n',
  ],
  [
    'a warning, and what could move the cursor',
    (log) => log.warn('store unavailable', { store: 'sessions', reason: 'no \u001b[31mway' }),
    'warn   store unavailable  store=sessions  reason="no \\u001b[31mway"\n',
  ],
  [
    'a list, one item a line',
    (log) => log.error('config_reload_failed', { problems: ['f:1:2: a', 'f:3:4: b'] }),
    'error  config_reload_failed\n    f:1:2: a\n    f:3:4: b\n',
  ],
];

for (const [sentence, log, text] of rows)
  t.test(`${sentence} is readable`, async (t) => {
    t.equal(written({ format: 'text' }, false, log), text);
    t.equal(withoutTimes(stripVTControlCharacters(written({ format: 'auto' }, true, log))), text);
    for (const json of [written({ format: 'json' }, true, log), written({ format: 'auto' }, false, log)])
      for (const line of json.trimEnd().split('\n'))
        t.equal(Object.hasOwn(JSON.parse(line), 'names'), false, 'and JSON elsewhere, without names');
  });

// The test runner sets it where its own output is not a terminal.
delete process.env.NO_COLOR;

t.test('NO_COLOR is heeded on a terminal', async (t) => {
  process.env.NO_COLOR = '1';
  t.teardown(() => delete process.env.NO_COLOR);
  const text = written({ format: 'auto' }, true, (log) => log.warn('careful'));
  t.equal(text, stripVTControlCharacters(text));
});

t.test('an error is shown with its stack, and with the format of now', async (t) => {
  const text = written({ format: 'json' }, true, (log) => {
    log.configure({ level: 'info', format: 'text' });
    log.error('internal error', { err: new Error('boom'), request_id: 'r-1' });
  });
  t.ok(text.includes('\u001b[31merror'), 'in colour');
  t.match(
    withoutTimes(stripVTControlCharacters(text)),
    /^error {2}internal error {2}request_id=r-1\n {4}Error: boom\n {4}at /,
  );
});
