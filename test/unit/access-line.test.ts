import t from 'tap';
import { accessLine } from '../../src/log/access-line.ts';

const entry = {
  method: 'GET',
  path: '/api/x',
  route: '/api',
  status: 200,
  durationMs: 0,
  outcome: 'ok',
  subject: '',
  credentialKind: '',
  credentialId: '',
  requestId: 'id',
  decidedFor: '',
  address: '192.0.2.1',
  clientCertificate: null,
  bytesIn: 0,
  bytesOut: 0,
  reason: '',
  upstreamFailure: null,
  otherName: null,
} as const;

t.test('a method is written as text, whatever is in it', async (t) => {
  t.match(accessLine(entry, 'now'), ',"method":"GET","path":"/api/x"');
  const method = 'x","forged":"1\\"}\n{"audit":true\u2028\u0000';
  const line = accessLine({ ...entry, method }, 'now');
  t.equal(line.indexOf('\n'), line.length - 1, 'one line');
  t.equal(JSON.parse(line).method, method);
  t.notOk('forged' in JSON.parse(line));
});

t.test('a duration is in milliseconds, to the microsecond', async (t) => {
  for (const [durationMs, text] of [
    [0, '0.000'],
    [0.0004, '0.000'],
    [0.0006, '0.001'],
    [0.9996, '1.000'],
    [7.05, '7.050'],
    [12.345, '12.345'],
    [86_400_000.001, '86400000.001'],
  ] as const) {
    const line = accessLine({ ...entry, durationMs }, 'now');
    t.match(line, `"duration_ms":${text},`);
    t.equal(JSON.parse(line).duration_ms, Number(text));
  }
});
