import t from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';

async function idOf(gateway: Forwarding, lines: readonly string[], path = '/api/store/x') {
  const { responses } = await exchangeRaw(
    gateway.port,
    gateway.raw(`GET ${path} HTTP/1.1`, ['Connection: close', ...lines]),
  );
  return { answered: responses[0]!.values('x-request-id'), json: responses[0]!.json };
}

t.test('the caller’s request id reaches the upstream, the response and the log', async (t) => {
  const gateway = await startForwarding(t);
  for (const id of ['a', 'A-z.0_9', 'x'.repeat(128)]) {
    t.same((await idOf(gateway, [`X-Request-Id: ${id}`])).answered, [id]);
    t.same(gateway.upstream.seen.at(-1)!.values('x-request-id'), [id]);
    t.equal(gateway.logLines().at(-1)!.request_id, id);
  }
  const { answered, json } = await idOf(gateway, ['X-Request-Id: mine'], '/nowhere');
  t.same(answered, ['mine']);
  t.equal(json.request_id, 'mine', 'errors name it too');
  t.same((await idOf(gateway, ['X-Request-Id: mine'], '/.well-known/jwks.json')).answered, ['mine']);
});

t.test('any other id is replaced', async (t) => {
  const gateway = await startForwarding(t);
  const rows: Record<string, string[]> = {
    none: [],
    'an empty one': ['X-Request-Id:'],
    'one that is too long': [`X-Request-Id: ${'x'.repeat(129)}`],
    'one with a blank': ['X-Request-Id: a b'],
    'one with a byte above 0x7e': ['X-Request-Id: \xe9'],
    'one that would end a log line': ['X-Request-Id: a","x":"b'],
    'two of them': ['X-Request-Id: a', 'X-Request-Id: b'],
    'the same one twice': ['X-Request-Id: a', 'x-request-id: a'],
    'one under an odd spelling': ['X_Request_Id: a'],
  };
  for (const [name, lines] of Object.entries(rows)) {
    const { answered } = await idOf(gateway, lines);
    t.match(answered, [/^[0-9a-f-]{36}$/], name);
    t.same(gateway.upstream.seen.at(-1)!.values('x-request-id'), answered);
  }
});

t.test('an upstream’s own request id is not passed on', async (t) => {
  const gateway = await startForwarding(t);
  gateway.upstream.response = (_request, response) =>
    response.writeHead(200, { 'X-Request-ID': 'of the upstream' }).end();
  t.same((await idOf(gateway, ['X-Request-Id: mine'])).answered, ['mine']);
});
