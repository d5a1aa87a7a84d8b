import { readdirSync } from 'node:fs';
import { isIP } from 'node:net';
import t from 'tap';
import { createSystemResolver } from '../../src/names/system-resolver.ts';
import { createRandom } from '../support/corpora/random.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { startDnsServer } from '../support/servers/dns-server.ts';

const cases = Number(process.env.POSTERN_TEST_FUZZ_CASES ?? (isLong ? 5_000 : 300));
/** Another seed, another run: what it finds is found again by it. */
const seed = Number(process.env.POSTERN_TEST_FUZZ_SEED ?? 1);
const parallel = 300;

t.setTimeout(isLong ? 1_800_000 : 120_000);

/** Cut short, or with a few bytes that are others; its first two say which question it responds to. */
function damage(response: Buffer, id: number): Buffer {
  const random = createRandom(seed, id);
  const bytes = Buffer.from(response);
  for (let i = random.below(6); i >= 0; i--) bytes[2 + random.below(bytes.length - 2)] = random.below(256);
  return random.oneIn(4) ? bytes.subarray(0, random.below(bytes.length)) : bytes;
}

const openFiles = () => readdirSync('/proc/self/fd').length;

t.test('damaged responses of a name server: a result, and nothing left behind', async (t) => {
  let responses = 0;
  const damaged = (response: Buffer) => damage(response, responses++);
  const many = Array.from({ length: 60 }, (_, i) => `10.0.1.${i}`);
  const { address } = await startDnsServer(t, {
    'app.test': { of: ['10.0.0.1', 'fd00::1'], alias: 'real.test', damaged },
    'many.test': { of: many, damaged },
    'intact.test': ['10.0.0.2'],
  });
  const resolve = createSystemResolver({ folder: '/nonexistent', machine: 'box', servers: [address] });
  const before = openFiles();
  const tally: Record<string, number> = {};
  let started = 0;
  const work = async () => {
    while (started < cases) {
      const host = started++ % 2 === 0 ? 'app.test' : 'many.test';
      const outcome = await resolve(host).then(
        (found) => (found.length > 0 && found.every((each) => isIP(each) !== 0) ? 'found' : `found ${found}`),
        ({ code }: NodeJS.ErrnoException) => String(code),
      );
      tally[outcome] = (tally[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  t.comment(JSON.stringify({ seed, ...tally }));
  t.strictSame(
    Object.keys(tally).filter((outcome) => !['found', 'ENOTFOUND', 'EAI_AGAIN'].includes(outcome)),
    [],
  );
  t.ok(tally.found, 'some damage does no harm');
  t.ok(tally.EAI_AGAIN);
  t.strictSame(await resolve('intact.test'), ['10.0.0.2']);
  await eventually('the sockets are closed', () => openFiles() <= before + 4);
});
