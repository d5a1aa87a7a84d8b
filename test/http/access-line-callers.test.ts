import t from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

t.test('the access line of a refusal by an own endpoint names the caller as that of its 200', async (t) => {
  const gateway = await startForwarding(t);
  const bearer = [`Authorization: Bearer ${gateway.bearer}`];
  const key = [`X-API-Key: ${gateway.key}`];
  const narrow = await gateway.api.signIn('ada', 'correct horse battery staple', { scope: 'store:read' });
  const narrowed = [`Authorization: Bearer ${narrow.accessToken}`];
  const rows: [string, string, string[], number][] = [
    ['a session that may', 'GET /api/admin/api-keys/', bearer, 200],
    ['a session without the scope', 'GET /api/admin/api-keys/', narrowed, 403],
    ['a session without the scope, with a body', 'POST /api/admin/api-keys/', narrowed, 403],
    ['a key that may', 'GET /api/admin/api-keys/', key, 200],
    ['a key without the scope', 'GET /api/admin/audit/', key, 403],
    ['a key where a session is required', 'GET /api/self/sessions', key, 403],
    ['a key that would sign out', 'GET /api/logout', key, 403],
    ['no credential', 'GET /api/admin/audit/', [], 401],
    ['a wrong one', 'GET /api/admin/audit/', ['Authorization: Bearer x'], 401],
  ];
  const lines = [];
  for (const [name, requestLine, credential, status] of rows) {
    const body = requestLine.startsWith('POST') ? '{}' : '';
    const head = [`${requestLine} HTTP/1.1`, 'Host: a', 'Connection: close', ...credential];
    if (body !== '') head.push('Content-Type: application/json', `Content-Length: ${body.length}`);
    const { responses } = await exchangeRaw(gateway.port, [...head, '', body].join('\r\n'));
    t.equal(responses[0]?.status, status, name);
    lines.push(gateway.logLines().findLast(({ msg }) => msg === 'request')!);
  }
  const [session, , , ownKey] = lines;
  t.ok(session!.subject);
  t.equal(ownKey!.key, gateway.keyId);
  const subject = session!.subject;
  for (const [index, [name, , credential]] of rows.entries()) {
    const { subject: named, session: bySession, key: byKey } = lines[index]!;
    if (credential === bearer || credential === narrowed) {
      t.equal(named, subject, name);
      t.ok(bySession, name);
      t.notOk(byKey, name);
    } else if (credential === key)
      t.strictSame([named, bySession, byKey], [subject, undefined, gateway.keyId], name);
    else t.strictSame([named, bySession, byKey], [undefined, undefined, undefined], name);
  }
});
