import t from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

const refused: Record<string, [bytes: string, status: number]> = {
  'a user in an absolute target': [
    'GET http://user:geheim@h/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    400,
  ],
  'a fragment': [
    'GET /api/login/idp/exchange#assertion=geheim HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    400,
  ],
  'an ambiguous path': ['GET /api/store/geheim//x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  'a method that is never served': [
    'TRACE http://user:geheim@h/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    405,
  ],
  'a tunnel': ['CONNECT user:geheim@h:443 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 405],
  'an unknown expectation': [
    'GET http://user:geheim@h/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: geheim\r\n\r\n',
    417,
  ],
  'two hosts': ['GET http://user:geheim@h/ HTTP/1.1\r\nHost: a\r\nHost: geheim\r\n\r\n', 400],
  'a target that is too long': [
    `GET http://user:geheim@h/${'x'.repeat(9_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    414,
  ],
  'too many headers': [
    `GET http://user:geheim@h/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'X-A: a\r\n'.repeat(120)}\r\n`,
    431,
  ],
  'a line that is no request': [
    'GET  http://user:geheim@h/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    400,
  ],
};

t.test('the target of a request that was refused as malformed is never logged', async (t) => {
  const gateway = await startForwarding(t);
  for (const [name, [bytes, status]] of Object.entries(refused)) {
    const { responses } = await exchangeRaw(gateway.port, bytes);
    t.equal(responses[0]?.status, status, name);
  }
  const lines = gateway.logLines();
  t.notMatch(JSON.stringify(lines), /geheim|user:/);
  t.equal(lines.filter((line) => line.status === 400 && line.path === '').length, 4);
});

t.test('the path of a request that was refused for another reason is logged', async (t) => {
  const gateway = await startForwarding(t);
  await exchangeRaw(
    gateway.port,
    'GET /api/store/a?b=geheim HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  );
  const [line] = gateway.logLines().filter(({ status }) => status === 401);
  t.match(line, { path: '/api/store/a', outcome: 'not_authenticated' });
  t.notMatch(JSON.stringify(line), /geheim/);
});
