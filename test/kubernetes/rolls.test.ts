import t, { type Test } from 'tap';
import { apply, kubectl, requireNode } from './cluster/commands.ts';
import { type Disturbance, disturbances } from './cluster/disturbances.ts';
import { type LoadKind, startLoad } from './cluster/load.ts';
import { createNamespace } from './cluster/namespace.ts';
import { ordersService } from './cluster/orders.ts';
import { gatewayValues, install, openUp, type Release, sidecarValues } from './cluster/release.ts';
import { type Stores, startStores } from './cluster/stores.ts';

// Clients lose nothing while pods are replaced. `POSTERN_TEST_LONG` makes it a hundred thousand requests a case, and
// `POSTERN_TEST_TAG=previous` judges another version.

const isLong = process.env.POSTERN_TEST_LONG !== undefined;
const least = isLong ? 100_000 : 2000;
const load = isLong ? { clients: 4, pauseMs: 0 } : { clients: 2, pauseMs: 40 };
const tag = process.env.POSTERN_TEST_TAG;
const tagged = tag === undefined ? {} : { image: { repository: 'registry.example.com/postern', tag } };

const arrangements: Readonly<Record<string, (stores: Stores) => object>> = {
  gateway: (stores) => gatewayValues(stores, tagged),
  'native sidecar': (stores) => ({ ...sidecarValues(stores, true), ...tagged }),
  'ordinary sidecar': (stores) => ({ ...sidecarValues(stores, false), ...tagged }),
};

interface Row {
  readonly arrangement: string;
  readonly event: string;
  readonly sent: number;
  readonly lost: Readonly<Record<string, number>>;
}

t.test('clients lose nothing while pods come and go', async (t) => {
  if (!requireNode(t)) return;
  const rows: Row[] = [];
  for (const [name, values] of Object.entries(arrangements))
    await t.test(name, async (t) => {
      const namespace = `rolls-${name.replace(' ', '-')}`;
      await createNamespace(t, namespace);
      const stores = await startStores(t, namespace, 'acme');
      await apply(namespace, ordersService());
      await kubectl('rollout', 'status', 'deploy/orders', '--namespace', namespace);
      const release = await install(namespace, values(stores));
      const { key } = await openUp(release);
      for (const [event, disturb] of Object.entries(disturbances))
        await t.test(event, async (t) => {
          rows.push({ arrangement: name, event, ...(await loseNothing(t, release, key, disturb)) });
        });
    });
  for (const { arrangement, event, sent, lost } of rows)
    t.comment(`| ${arrangement} | ${event} | ${sent} | ${JSON.stringify(lost)} |`);
});

/** Disturbs until enough was sent, or once if that takes longer. */
async function loseNothing(t: Test, release: Release, apiKey: string, disturb: Disturbance) {
  const running = startLoad({ address: release.address, apiKey, ...load });
  do await disturb(release);
  while (running.sent < least);
  await running.stop();
  const lost: Record<string, number> = {};
  for (const [kind, counted] of Object.entries(running.kinds) as [LoadKind, { lost: object }][])
    for (const [how, count] of Object.entries(counted.lost)) lost[`${kind}: ${how}`] = count;
  t.strictSame(lost, {}, `${running.sent} requests`);
  return { sent: running.sent, lost };
}
