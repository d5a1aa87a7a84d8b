import t from 'tap';
import type { Call } from '../../src/cli/command.ts';
import { printResult } from '../../src/cli/terminal.ts';
import { jsonText } from '../../src/log/json-text.ts';
import { createLogOn } from '../../src/log/log.ts';

/** CSI as one byte of Latin-1, DEL, an override of the direction, a line separator, a tag beyond the BMP. */
const hostile = 'a\u009b2J\u007f\u202eb\u2028\u{e0001}';
const escaped = 'a\\u009b2J\\u007f\\u202eb\\u2028\\udb40\\udc01';

/** True if a terminal takes every character of a text for a visible one. */
const isSafe = (text: string) => !/[\u007f-\u009f\p{Cf}\u2028\u2029]/u.test(text);

t.test('JSON has escapes for what a terminal obeys, and the same value', async (t) => {
  t.equal(jsonText(hostile), `"${escaped}"`);
  t.equal(jsonText({ [hostile]: ['zoë 😀'] }, 2), `{\n  "${escaped}": [\n    "zoë 😀"\n  ]\n}`);
  for (const value of [hostile, { [hostile]: [hostile, 1, null] }, '\ud800'])
    t.strictSame(JSON.parse(jsonText(value)), value);
});

t.test('every line of the log is safe to show', async (t) => {
  const lines: string[] = [];
  const log = createLogOn({ write: (line) => void lines.push(line) }, { level: 'info' });
  log.access({
    method: hostile,
    path: hostile,
    route: hostile,
    status: 502,
    durationMs: 1,
    outcome: 'misdirected',
    subject: '',
    credentialKind: '',
    credentialId: '',
    requestId: 'r',
    decidedFor: '',
    address: '192.0.2.1',
    clientCertificate: hostile,
    bytesIn: 0,
    bytesOut: 0,
    reason: hostile,
    upstreamFailure: null,
    otherName: { header: 'host', sent: hostile, expected: 'https://acme.example.com' },
  });
  log.audit({
    event: 'login_failed',
    outcome: 'failure',
    actor: { user: null, kind: 'anonymous' },
    subject: null,
    address: null,
    requestId: null,
    userAgent: hostile,
  });
  log.warn(hostile, { [hostile]: hostile, err: new Error(hostile) });
  const [access, audit, warning] = lines.map((line) => JSON.parse(line));
  t.equal(lines.length, 3);
  for (const line of lines) t.ok(isSafe(line), line);
  t.equal(access.host, hostile);
  t.equal(audit.user_agent, hostile);
  t.equal(warning[hostile], hostile);
  t.equal(warning.err.message, hostile);
});

t.test('so is what a command prints with --json', async (t) => {
  let printed = '';
  const stdout = {
    once: () => {},
    off: () => {},
    write: (text: string, done: () => void) => {
      printed += text;
      done();
    },
  };
  const call = { terminal: { stdout }, isSet: (name: string) => name === 'json' } as unknown as Call;
  await printResult(call, { user_agent: hostile }, 'text');
  t.equal(printed, `{\n  "user_agent": "${escaped}"\n}\n`);
});
