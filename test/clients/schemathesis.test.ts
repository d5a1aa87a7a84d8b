import t from 'tap';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { startProviderGateway } from '../support/gateway/provider-gateway.ts';
import { makeClientFolder, pythonTool, requireTools } from './client-tools.ts';
import { isOf, readKnownFailures, runSchemathesis } from './schemathesis.ts';

const unbounded = { per_account_and_address: 1e6, per_account: 1e6, per_address: 1e6 };

function uniqueBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

t.setTimeout(15 * 60_000);

t.test(
  '2,000 requests that Schemathesis makes from the document find nothing that is not listed',
  async (t) => {
    if (process.env.POSTERN_TEST_LONG === undefined) {
      t.pass('2,000 requests', { skip: 'npm run test:long' });
      return;
    }
    if (!requireTools(t, pythonTool('schemathesis'))) return;
    const { api, port } = await startProviderGateway(
      t,
      { idp: {} },
      { login_throttle: unbounded, endpoints: { self: 'own', users: 'own' } },
    );
    await api.activate(administrator.username, administrator.password, bootstrapToken);

    const known = readKnownFailures();
    const { findings, cases, printed } = await runSchemathesis({
      ...makeClientFolder(t),
      url: `http://127.0.0.1:${port}`,
      user: administrator,
      seed: Number(process.env.SCHEMATHESIS_SEED ?? 1),
    });
    t.comment(printed);
    t.ok(cases >= 2000, `${cases} cases`);
    const news = findings.filter((finding) => !known.some((one) => isOf(one, finding)));
    t.strictSame(
      uniqueBy(news, ({ request, ...others }) => JSON.stringify(others)),
      [],
      'each finding is of a class in known-failures.jsonl',
    );
    t.notMatch(printed, /\b\d+ errors?\b/, 'it came to its end');
  },
);

t.test('a finding that differs from those listed in any respect is new', async (t) => {
  for (const known of readKnownFailures()) {
    const finding = { ...known, request: '/?size=' };
    t.ok(isOf(known, finding), known.reason);
    t.notOk(isOf(known, { ...finding, status: 500 }), known.reason);
    for (const operation of ['GET /', `${known.operation}/more`])
      t.notOk(isOf(known, { ...finding, operation }), known.reason);
    t.notOk(isOf(known, { ...finding, check: 'not_a_server_error' }), known.reason);
    if (known.problem !== undefined) t.notOk(isOf(known, { ...finding, problem: 'other' }), known.reason);
  }
});
