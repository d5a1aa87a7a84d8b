import t from 'tap';
import { cachedByName, fieldNameOf } from '../../src/http1/message/name-cache.ts';

/** A cached function, and the names it was computed for. */
function counted() {
  const computed: string[] = [];
  const lengthOf = cachedByName((name) => {
    computed.push(name);
    return name.length;
  });
  return { lengthOf, computed };
}

t.test('a name is computed once per spelling', async (t) => {
  const { lengthOf, computed } = counted();
  for (const name of ['Host', 'host', 'Host', 'host']) t.equal(lengthOf(name), 4);
  t.strictSame(computed, ['Host', 'host']);
});

t.test('a result of false is cached like any other', async (t) => {
  let calls = 0;
  const isKnown = cachedByName(() => {
    calls++;
    return false;
  });
  t.notOk(isKnown('x') || isKnown('x'));
  t.equal(calls, 1);
});

t.test('after 4,096 spellings new ones are computed each time, and the first stay cached', async (t) => {
  const { lengthOf, computed } = counted();
  for (let i = 0; i < 5_000; i++) lengthOf(`x-${i}`);
  computed.length = 0;
  for (const name of ['x-0', 'x-4095', 'x-4096', 'x-4999', 'x-4999']) t.equal(lengthOf(name), name.length);
  t.strictSame(computed, ['x-4096', 'x-4999', 'x-4999']);
});

t.test('a name of more than 64 characters is computed each time', async (t) => {
  const { lengthOf, computed } = counted();
  for (const length of [64, 64, 65, 65]) t.equal(lengthOf('x'.repeat(length)), length);
  t.strictSame(
    computed.map((name) => name.length),
    [64, 65, 65],
  );
});

t.test('a field name is the same text, and nothing else is one', async (t) => {
  // More spellings than are kept.
  for (let i = 0; i < 5_000; i++) fieldNameOf(`x-${i}`);
  for (const name of ['X-1', 'x-1', 'x-4999', 'y'.repeat(65), "!#$%&'*+.^_`|~"])
    t.equal(fieldNameOf(`${name}`), name);
  for (const text of ['', ' ', 'x y', 'x:', 'x\t', 'x(', 'ä', 'x'.repeat(65).concat('"')])
    for (let time = 0; time < 2; time++) t.equal(fieldNameOf(text), undefined, JSON.stringify(text));
});
