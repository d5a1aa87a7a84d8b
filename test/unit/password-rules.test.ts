import t from 'tap';
import { isCommonPassword, passwordFault } from '../../src/credentials/password-rules.ts';
import { canonicalAccountName } from '../../src/rules/account-name.ts';

const faults: readonly (readonly [password: string, username: string | null, fault: string | undefined])[] = [
  ['Grace Hopper', 'grace hopper', 'must not be the user name'],
  [' GRACE HOPPER ', 'Grace Hopper', 'must not be the user name'],
  ['ｇｒａｃｅ ｈｏｐｐｅｒ', 'grace hopper', 'must not be the user name'],
  ['grace hopper 1906', 'grace hopper', undefined],
  ['Grace Hopper1', 'grace hopper', undefined],
  ['gracegracegrace', 'grace', undefined],
  ['grace hopper', null, undefined],
  ['Password1234', null, 'must not be a common password'],
  ['123456789012', 'grace', 'must not be a common password'],
  ['qwertyuiop123 ', 'grace', 'must not be a common password'],
  ['JustinBieber', 'grace', 'must not be a common password'],
  ['nanoseconds are this long', 'grace', undefined],
  ['', null, undefined],
];

t.test('a password is neither the user’s name nor a common one, whatever the spelling', async (t) => {
  for (const [password, username, fault] of faults)
    t.equal(await passwordFault(password, username), fault, JSON.stringify([password, username]));
});

t.test('common passwords are found in the form in which they are looked up', async (t) => {
  for (const password of ['1q2w3e4r5t6y', 'passwordpassword', 'administrator1', 'P@ssw0rd1234', 'Dragon'])
    t.ok(await isCommonPassword(canonicalAccountName(password)), password);
  // The package has a list of words for passphrases as well, which are no passwords.
  t.notOk(await isCommonPassword('abdomen'));
});
