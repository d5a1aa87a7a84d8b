import t, { type Test } from 'tap';
import { withRecords } from '../support/administration/accounts.ts';
import { listUsers } from '../support/administration/record-changes.ts';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestGateway,
} from '../support/gateway/gateway.ts';

const inParallel = 50;

async function assertOneAdministrator(t: Test, gateways: readonly TestGateway[]): Promise<void> {
  const responses = await Promise.all(
    Array.from({ length: inParallel }, (_, i) =>
      gateways[i % gateways.length]!.api.activate(`ada ${i}`, administrator.password, bootstrapToken),
    ),
  );
  const made = responses.filter(({ status }) => status === 201);
  t.equal(made.length, 1);
  for (const response of responses.filter((other) => other !== made[0]))
    t.match(response, { status: 409, json: { code: 'already_activated' } });
  const users = await withRecords(gateways[0]!.folder, async (records) => listUsers(records));
  t.same(
    users.map(({ id, username }) => ({ id, username })),
    made.map(({ json }) => json),
  );
}

t.test('a single one of 50 parallel activations makes an administrator', async (t) => {
  await assertOneAdministrator(t, [await startTestGateway(t)]);
});

t.test('also over two gateways on the same files', async (t) => {
  const first = await startTestGateway(t);
  await assertOneAdministrator(t, [first, await startTestGateway(t, { folder: first.folder })]);
});
