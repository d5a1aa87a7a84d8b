import t from 'tap';
import { Refusal } from '../../src/errors.ts';
import { verifyAssertion } from '../../src/identity-providers/id-token.ts';
import { chooseKey, parseKeySet } from '../../src/identity-providers/key-set.ts';
import {
  claims,
  es256,
  forge,
  header,
  jwkOf,
  rs256,
  settingsOf,
  start,
} from '../support/corpora/forged-assertions.ts';
import { refusedAtOnce, refusedByKey } from '../support/corpora/refused-assertions.ts';

const keySet = parseKeySet({ keys: [jwkOf(rs256), jwkOf(es256)] });
let asked = 0;
const keys = {
  async find(named: { alg: string; kid?: string }) {
    asked += 1;
    const chosen = chooseKey(keySet, named);
    if (chosen === undefined) throw new Refusal('invalid_assertion', { cause: 'no such key' });
    return chosen.key;
  },
};
const verify = (assertion: string) =>
  verifyAssertion(assertion, { settings: settingsOf(), keys, now: () => start });

const atOnce = refusedAtOnce(claims);
const byKey = refusedByKey(claims);

for (const [name, assertion] of Object.entries(atOnce)) {
  t.test(`refused: ${name}`, async (t) => {
    const before = asked;
    await t.rejects(verify(assertion), { code: 'invalid_assertion' });
    t.equal(asked, before, 'without asking for keys');
  });
}
for (const [name, assertion] of Object.entries(byKey)) {
  t.test(`refused: ${name}`, async (t) => {
    await t.rejects(verify(assertion), { code: 'invalid_assertion' });
  });
}

t.test('a refusal contains nothing of the assertion', async (t) => {
  const assertions = { ...atOnce, ...byKey };
  for (const [name, assertion] of Object.entries(assertions)) {
    const error = await verify(assertion).catch((caught: Refusal) => caught);
    t.match((error as Refusal).options.cause, /^[\w .]{1,40}$/, name);
  }
});

t.test('the assertion that all of these are made from is valid', async (t) => {
  t.ok(await verify(forge(header, claims)));
});
