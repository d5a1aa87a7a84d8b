import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { HeldNow, Principal } from '../../src/credentials/principal.ts';
import { type OpenStream, OpenStreams } from '../../src/proxy/open-streams.ts';
import { eventually } from '../support/eventually.ts';

interface Stream extends OpenStream {
  readonly ends: string[];
}

/** A registry that is swept by hand, and streams that leave it when they are ended. */
function registry(t: Test, heldNow: HeldNow) {
  const streams = new OpenStreams(heldNow);
  t.teardown(() => streams.close());
  const open = (credentialId: string, ...neededScopes: string[]): Stream => {
    const stream: Stream = {
      neededScopes,
      index: -1,
      ends: [],
      end(reason) {
        stream.ends.push(reason);
        streams.remove(stream);
      },
    };
    streams.add({ credentialId } as Principal, stream);
    return stream;
  };
  return { streams, open };
}

const always: HeldNow = async () => new Set(['a', 'b']);

t.test('a credential that ends takes its own streams with it, at once', async (t) => {
  const { streams, open } = registry(t, always);
  const [first, second, other] = [open('1', 'a'), open('1'), open('2')];
  t.equal(streams.size, 3);
  streams.endOf('1');
  streams.endOf('unknown');
  await Promise.resolve();
  t.same([first.ends, second.ends, other.ends], [['credential_ended'], ['credential_ended'], []]);
  t.equal(streams.size, 1);
  streams.remove(first);
  t.equal(streams.size, 1, 'it is gone already');
});

t.test('a sweep ends what is no longer allowed', async (t) => {
  const held: Record<string, ReadonlySet<string> | null> = { good: new Set(['a']), ended: null };
  const { streams, open } = registry(t, async ({ credentialId }) => held[credentialId]!);
  const kept = [open('good'), open('good', 'a')];
  const lost = open('good', 'a', 'b');
  const ended = open('ended');
  await streams.sweep();
  t.same(
    kept.map(({ ends }) => ends),
    [[], []],
  );
  t.same([lost.ends, ended.ends], [['scope_lost'], ['credential_ended']]);
});

t.test('a credential whose store is unavailable keeps its streams, and only its own', async (t) => {
  const { streams, open } = registry(t, async ({ credentialId }) => {
    if (credentialId === 'unknown') throw new Error('store unavailable');
    return null;
  });
  const unknown = open('unknown');
  const ended = open('ended');
  await streams.sweep();
  t.same([unknown.ends, ended.ends], [[], ['credential_ended']]);
});

t.test('a sweep of very many credentials does not block the event loop', async (t) => {
  let checks = 0;
  const { streams, open } = registry(t, async () => {
    checks++;
    return new Set();
  });
  for (let i = 0; i < 1_000; i++) open(`credential ${i}`);
  const swept = streams.sweep();
  await nextTurn();
  t.ok(checks > 0 && checks < 1_000, `${checks} checks in the first turn`);
  await swept;
  t.equal(checks, 1_000);
});

t.test('each credential is checked once, however many streams it has', async (t) => {
  let checks = 0;
  const { streams, open } = registry(t, async () => {
    checks++;
    return new Set();
  });
  for (let i = 0; i < 10; i++) open('one');
  await streams.sweep();
  t.equal(checks, 1);
});

t.test('credentials are checked at intervals only while streams are open', async (t) => {
  let checks = 0;
  const { streams, open } = registry(t, async () => {
    checks++;
    return null;
  });
  t.equal(streams.isSwept, false, 'no stream has been opened yet');
  for (const count of [1, 2]) {
    const stream = open('one');
    t.equal(streams.isSwept, true);
    await eventually('the stream of the ended session has ended', () => stream.ends.length === 1);
    t.equal(checks, count);
    await eventually('the sweeps have stopped', () => !streams.isSwept);
  }
  streams.close();
  open('one');
  t.equal(streams.isSwept, false, 'it is closed');
});
