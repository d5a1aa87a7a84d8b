import t from 'tap';
import { readsAsBuiltInSet } from '../../src/rules/set-name.ts';

t.test('a name that people read as that of the built-in set', async (t) => {
  for (const name of [
    'administrator',
    'Administrator',
    'ADMINISTRATOR',
    ' administrator\t',
    'administrator\u200b',
    'admin\u00adistrator',
    'admin\u200distrator\ufe0f',
    'a\u034fdministrator',
    'admin\u3164istrator',
    'admin\u2800istrator',
    '\u202eadministrator\u202c',
    'admin\u{e0061}istrator',
    'admin\u200aistrator',
    '\uff41dministrator',
    '\u{1d41a}dministrator',
    'adm\u0131nistrator',
    'admini\u017ftrator',
  ])
    t.equal(readsAsBuiltInSet(name), true, JSON.stringify(name));
  for (const name of ['administrators', 'admin', 'readers', '', 'administrator-2', '\u00e1dministrator'])
    t.equal(readsAsBuiltInSet(name), false, JSON.stringify(name));
});
