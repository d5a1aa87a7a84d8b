import t from 'tap';
import { startUserAdministration } from '../support/administration/user-administration.ts';

const longest = `${'x'.repeat(250)}@b.d`;
const refused: Readonly<Record<string, [value: unknown, type: string]>> = {
  'two addresses': ['a@b.example, evil@example.com', 'string_pattern_mismatch'],
  'two with a semicolon': ['a@b.example;evil@example.com', 'string_pattern_mismatch'],
  'a space': ['a b@c.example', 'string_pattern_mismatch'],
  'a space at the end': ['a@b.example ', 'string_pattern_mismatch'],
  'a no-break space': ['a\u00a0@b.example', 'string_pattern_mismatch'],
  'angle brackets': ['<a@b.example>', 'string_pattern_mismatch'],
  'a comment': ['a@b.example(evil@example.com)', 'string_pattern_mismatch'],
  'a quoted name': ['"a"@b.example', 'string_pattern_mismatch'],
  'a line end': ['a@b.example\n', 'string_pattern_mismatch'],
  'a control character': ['a\u0000@b.example', 'string_pattern_mismatch'],
  'no @': ['a', 'string_pattern_mismatch'],
  'two @': ['a@b@c', 'string_pattern_mismatch'],
  nothing: ['', 'string_too_short'],
  '255 characters': [`x${longest}`, 'string_too_long'],
};

t.test('the e-mail address of a user is one address', async (t) => {
  const { users, create } = await startUserAdministration(t);
  const { id } = await create('grace');
  for (const [name, [email, type]] of Object.entries(refused))
    for (const [method, path, body] of [
      ['POST', '', { username: 'ada', email }],
      ['PATCH', id, { email }],
    ] as const) {
      const { status, json } = await users(method, path, body);
      t.match(
        { status, problems: json.detail },
        { status: 422, problems: [{ type, loc: ['body', 'email'] }] },
        name,
      );
    }
  t.equal((await users('GET', id)).json.email, null);
  for (const email of [longest, 'a@b', 'zoë+x.y@exämple.de', "o'neill@b.example"]) {
    const changed = await users('PATCH', id, { email });
    t.equal(changed.json.email, email, changed.text);
  }
  t.equal((await users('PATCH', id, { email: null })).json.email, null);
});
