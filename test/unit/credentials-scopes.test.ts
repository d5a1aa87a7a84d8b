import t from 'tap';
import {
  HeldScopes,
  heldScopes,
  intersectScopes,
  missingScopes,
  parseScope,
} from '../../src/credentials/scopes.ts';

const texts: Record<string, [text: string, expected: readonly string[] | undefined]> = {
  'nothing gives none': ['', []],
  'only spaces give none': ['   ', []],
  'they are sorted': ['b a', ['a', 'b']],
  'they are distinct': ['a b a', ['a', 'b']],
  'several spaces count as one': [' a   b ', ['a', 'b']],
  'order is by code point': ['b B a:2 a:10', ['B', 'a:10', 'a:2', 'b']],
  'every character of the grammar passes': [
    "!#$%&'()*+,-./:;<=>?@[]^_`{|}~",
    ["!#$%&'()*+,-./:;<=>?@[]^_`{|}~"],
  ],
  'a quote is malformed': ['a"b', undefined],
  'a backslash is malformed': ['a\\b', undefined],
  'a tab is malformed': ['a\tb', undefined],
  'a line break is malformed': ['a\n', undefined],
  'a letter beyond ASCII is malformed': ['größe', undefined],
  'a no-break space is malformed': ['a\u00a0b', undefined],
  'DEL is malformed': ['a\x7f', undefined],
};
for (const [name, [text, expected]] of Object.entries(texts)) {
  t.test(`scope text: ${name}`, (t) => {
    t.strictSame(parseScope(text), expected);
    t.end();
  });
}

t.test('an intersection is sorted and never more than either', (t) => {
  t.strictSame(intersectScopes(['c', 'a', 'x', 'a'], ['a', 'b', 'c']), ['a', 'c']);
  t.strictSame(intersectScopes(['x'], ['a']), []);
  t.strictSame(intersectScopes([], ['a']), []);
  t.end();
});

const catalogue = new Set(['store:write', 'store:read', 'users:read']);
const held: Record<string, [own: string[], sets: { id: string; scopes: string[] }[], expected: string[]]> = {
  'own scopes, sorted': [['users:read', 'store:read'], [], ['store:read', 'users:read']],
  'own scopes and those of sets, once each': [
    ['store:read'],
    [{ id: 's', scopes: ['store:write', 'store:read'] }],
    ['store:read', 'store:write'],
  ],
  'nothing that has left the catalogue': [['gone'], [{ id: 's', scopes: ['gone:too'] }], []],
  'the whole catalogue for an administrator': [
    ['gone'],
    [{ id: 'administrator', scopes: [] }],
    ['store:read', 'store:write', 'users:read'],
  ],
  'no more for a set with that name in another case': [[], [{ id: 'Administrator', scopes: [] }], []],
  'nothing for nobody': [[], [], []],
};
for (const [name, [own, sets, expected]] of Object.entries(held)) {
  t.test(`held: ${name}`, (t) => {
    t.strictSame(heldScopes(own, sets, catalogue), expected);
    t.end();
  });
}

t.test('missing scopes are named in the order needed', (t) => {
  t.strictSame(missingScopes(['c', 'a', 'b'], new Set(['a'])), ['c', 'b']);
  t.strictSame(missingScopes(['a'], new Set(['a', 'b'])), []);
  t.strictSame(missingScopes([], new Set()), []);
  t.end();
});

t.test('missing scopes are named each time, whatever was asked before', async (t) => {
  const held = new HeldScopes(['a', 'b']);
  const [whole, other, more] = [['a'], ['b', 'a'], ['c', 'a', 'd']];
  for (let time = 0; time < 2; time++) {
    t.strictSame(held.missing(whole), []);
    t.strictSame(held.missing(more), ['c', 'd']);
    t.strictSame(held.missing(other), []);
    t.strictSame(held.missing(other), []);
    t.strictSame(held.missing(more), ['c', 'd']);
    t.strictSame(held.missing([]), []);
  }
  t.strictSame(new HeldScopes([]).missing(whole), ['a'], 'of another holder');
});
