import t from 'tap';
import { parseJsonObject } from '../../src/identity-providers/json-object.ts';

const parse = (text: string) => parseJsonObject(Buffer.from(text));

const accepted: Record<string, string> = {
  'the empty object': '{}',
  'the same name in two objects': '{"a":{"b":1},"b":2}',
  'the same name in the objects of a list': '[{"a":1},{"a":2}]'.replace(/^/, '{"l":').replace(/$/, '}'),
  'a text that looks like members': '{"a":"\\"a\\":1,{\\"a\\":2}","b":"a","c":":"}',
  'a name again after its object ended': '{"a":{},"b":{"a":1},"c":{"a":1}}',
  'spaces around colons': '{ "a" : 1 ,\n"b"\t:\r2 }',
  'a megabyte of text': `{"a":"${'x\\n'.repeat(350_000)}"}`,
};
for (const [name, text] of Object.entries(accepted)) {
  t.test(`accepted: ${name}`, (t) => {
    t.strictSame(parse(text), JSON.parse(text));
    t.end();
  });
}

const refused: Record<string, string | Buffer> = {
  'no bytes': '',
  'a list': '[]',
  null: 'null',
  'a text': '"a"',
  'a trailing comma': '{"a":1,}',
  'two objects': '{}{}',
  'a comment': '{}//',
  'a byte order mark': '\ufeff{}',
  'invalid UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  'a duplicate member': '{"a":1,"a":1}',
  'a duplicate member with others in between': '{"a":1,"b":{"a":[{"a":1}]},"a":2}',
  'a duplicate member, once escaped': '{"a":1,"\\u0061":2}',
  'a duplicate member of an inner object': '{"b":[{"a":1,"a":2}]}',
  'the empty name twice': '{"":1,"":2}',
  '__proto__ twice': '{"__proto__":1,"__proto__":2}',
  'a duplicate member, spaced': '{"a" :1,"a"\n:2}',
};
for (const [name, text] of Object.entries(refused)) {
  t.test(`refused: ${name}`, (t) => {
    t.equal(parseJsonObject(Buffer.from(text)), undefined);
    t.end();
  });
}
