import t from 'tap';
import { startTestGateway } from '../support/gateway/gateway.ts';

t.test('a gateway says that its records file belongs to another tenant', async (t) => {
  const warnings = ({ logLines }: Awaited<ReturnType<typeof startTestGateway>>) =>
    logLines().filter(({ msg }) => /belong to another tenant/.test(String(msg)));
  const first = await startTestGateway(t, {});
  t.strictSame(warnings(first), []);
  await first.stop();
  const other = await startTestGateway(t, { folder: first.folder, config: { tenant: 'shop' } });
  t.match(warnings(other), [{ level: 'warn', records_of: 'acme' }]);
  await other.stop();
  t.strictSame(warnings(await startTestGateway(t, { folder: first.folder })), [], 'it stays its first one’s');
});
