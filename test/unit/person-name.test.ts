import t from 'tap';
import { escapeControls } from '../../src/log/escape-controls.ts';
import { personName } from '../../src/log/person-name.ts';

t.test('a name is bare only if it can be nothing but a name', async (t) => {
  for (const name of ['ada', 'Ada.L', 'ada@example.com', 'a+b-c_d', '019ab1d5-6a1e'])
    t.equal(personName(name), name);
  for (const name of ['system', 'SYSTEM', 'anonymous', 'command_line', 'api_key', 'bootstrap token', 'zoë'])
    t.equal(personName(name), `"${name}"`);
  t.equal(personName('ada"  scopes +administrator'), '"ada\\"  scopes +administrator"');
  t.equal(personName('a\u202eb'), '"a\\u202eb"');
});

t.test('what looks empty is escaped', async (t) => {
  for (const character of ['\u115f', '\u1160', '\u3164', '\uffa0', '\u2800', '\u009b', '\u200b', '\u{e0001}'])
    t.equal(escapeControls(`a${character}b`), `a\\u{${character.codePointAt(0)!.toString(16)}}b`);
  t.equal(escapeControls('ada ㄱ ⠁ é 😀'), 'ada ㄱ ⠁ é 😀');
});
