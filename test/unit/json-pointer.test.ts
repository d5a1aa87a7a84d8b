import t from 'tap';
import { isJsonPointer, pointerOfMember, valueAt } from '../../src/rules/json-pointer.ts';

/** The document of RFC 6901 §5. */
const example = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
};

t.test('the examples of RFC 6901', async (t) => {
  const rows: [string, unknown][] = [
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ];
  for (const [pointer, value] of rows) {
    t.ok(isJsonPointer(pointer), pointer);
    t.strictSame(valueAt(example, pointer), value, pointer);
  }
});

t.test('a pointer names a value of the document itself, or none', async (t) => {
  const document = JSON.parse('{"a":{"b":[{"c":null},"text"]},"~1":"tilde","__proto__":{"x":1},"0":"zero"}');
  const rows: [string, unknown][] = [
    ['/a/b/0/c', null],
    ['/a/b/1', 'text'],
    ['/~01', 'tilde'],
    ['/__proto__/x', 1],
    ['/0', 'zero'],
    ['/a/b/01', undefined],
    ['/a/b/+1', undefined],
    ['/a/b/1.0', undefined],
    ['/a/b/-', undefined],
    ['/a/b/2', undefined],
    ['/a/b/length', undefined],
    ['/a/b/1/0', undefined],
    ['/a/b/1/length', undefined],
    ['/a/b/0/c/d', undefined],
    ['/a/constructor', undefined],
    ['/toString', undefined],
    ['/a/', undefined],
    ['/none/of/these', undefined],
  ];
  for (const [pointer, value] of rows) t.strictSame(valueAt(document, pointer), value, pointer);
});

t.test('any other text is no pointer', async (t) => {
  for (const text of ['', 'a', '#/a', '/~', '/a~', '/~2', '/a/~b', '/~~0'])
    t.notOk(isJsonPointer(text), text);
});

t.test('a member has a pointer, whatever its name', async (t) => {
  for (const name of ['a', '', '/', '~', '~1', '~0/', 'https://acme.example.com/roles']) {
    t.ok(isJsonPointer(pointerOfMember(name)), name);
    t.equal(valueAt({ [name]: 'here' }, pointerOfMember(name)), 'here', name);
  }
});
