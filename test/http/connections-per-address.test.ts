import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';

const request = 'GET /zz HTTP/1.1\r\nHost: a\r\n\r\n';

t.test('connections beyond connections_per_address are closed, until another one closes', async (t) => {
  const { port } = await startForwarding(t, { limits: { connections_per_address: 2 } });
  const first = await connectRaw(port);
  const second = await connectRaw(port);
  for (const connection of [first, second]) {
    connection.write(request);
    t.equal((await connection.response()).status, 404);
  }
  const third = await connectRaw(port);
  await third.closed;
  t.pass('the third is closed');

  first.reset();
  await first.closed;
  let admitted = false;
  const tryAgain = async () => {
    const connection = await connectRaw(port);
    connection.write(request);
    const response = await connection.response().catch(() => undefined);
    admitted ||= response?.status === 404;
    connection.reset();
  };
  const trying = setInterval(() => tryAgain().catch(() => {}), 20);
  await eventually(() => admitted).finally(() => clearInterval(trying));
  second.write(request);
  t.equal((await second.response()).status, 404, 'the first connections stay open');
  second.reset();
});

t.test('there is no limit by default', async (t) => {
  const { port } = await startForwarding(t);
  const all = await Promise.all(Array.from({ length: 50 }, () => connectRaw(port)));
  for (const connection of all) {
    connection.write(request);
    t.equal((await connection.response()).status, 404);
    connection.reset();
  }
});
