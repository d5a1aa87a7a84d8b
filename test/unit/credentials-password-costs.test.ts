import t from 'tap';
import { costOf, createPasswordCosts } from '../../src/credentials/passwords.ts';

const rest = 'c2FsdHNhbHRzYWx0c2FsdA$aGFzaA';
const today = '$argon2id$v=19$m=19456,t=2,p=1$';

const rows: [string, phc: string, cost: string | undefined][] = [
  ['as this library writes it', `$argon2id$v=19$m=64,p=1,t=2$${rest}`, '$argon2id$v=19$m=64,t=2,p=1$'],
  ['as others write it', `$argon2id$v=19$m=64,t=2,p=1$${rest}`, '$argon2id$v=19$m=64,t=2,p=1$'],
  ['another kind of argon2', `$argon2i$v=19$m=64,t=2,p=4$${rest}`, '$argon2i$v=19$m=64,t=2,p=4$'],
  ['cut within the salt', '$argon2d$v=16$m=64,t=2,p=4$c2Fs', '$argon2d$v=16$m=64,t=2,p=4$'],
  ['cut within the cost', '$argon2id$v=19$m=64,t=2,p', undefined],
  ['another hash', '$2y$12$abcdefghijklmnopqrstuv', '$2b$12$'],
  ['an unknown hash', '$1$abcdefgh$ijklmnopqrstuv', undefined],
  ['nothing', '', undefined],
];
for (const [name, phc, cost] of rows)
  t.test(`the cost of a hash: ${name}`, async (t) => {
    t.equal(costOf(phc), cost);
  });

t.test('every stored cost counts, and so does the configured one', async (t) => {
  const stored = ['$argon2id$v=19$m=64,p=1,t=1$', '$argon2id$v=19$m=64,t=1,p=1$', '$1$'];
  const costs = createPasswordCosts(today, async () => stored);
  t.strictSame([...(await costs(null))].sort(), [today, '$argon2id$v=19$m=64,t=1,p=1$'].sort());
});

t.test('concurrent callers share one query', async (t) => {
  let asked = 0;
  const costs = createPasswordCosts(today, async () => {
    asked += 1;
    return [];
  });
  await Promise.all([costs(null), costs(null)]);
  await costs(null);
  t.equal(asked, 1);
});

t.test('a cost first seen in a hash counts for every account from then on', async (t) => {
  const costs = createPasswordCosts(today, () => []);
  await costs(null);
  const met = `$argon2id$v=19$m=128,t=1,p=1$${rest}`;
  for (const hash of [met, null]) t.ok((await costs(hash)).has('$argon2id$v=19$m=128,t=1,p=1$'));
});

t.test('while the store is unavailable the configured cost counts', async (t) => {
  const costs = createPasswordCosts(today, () => Promise.reject(new Error('unavailable')));
  t.strictSame([...(await costs(null))], [today]);
});
