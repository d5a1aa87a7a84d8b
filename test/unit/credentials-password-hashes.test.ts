import t from 'tap';
import { dummyHash, verifyPasswordHash } from '../../src/credentials/password-hashes.ts';
import { createPasswordHasher } from '../../src/credentials/passwords.ts';
import { costOfPasswordHash, parsePasswordHash } from '../../src/rules/password-hash.ts';

const password = 'a password of the tests';
const salt = 'MDEyMzQ1Njc4OWFiY2RlZg';
const sha256 = 'zAFhfmMM/uJEOdMJ8PCwOdsW+Job59UYi9+8sThKpEM';
const sha512 = 'AELakaBLZpfs459xaUkd98AZRbqGN5zQkEA4AHb1gtu6W/TGy4hCDUNr4lp0H9IospkrvP6H1qVIJO/E1RDCHg';
const bcrypt = '04$abcdefghijklmnopqrstuuzzjWYX9ziq/z9PGEfqaY.69BPe06tMC';

/** Made by Python's hashlib, and libxcrypt. */
const made: [name: string, hash: string, prefix: string][] = [
  [
    'scrypt',
    `$scrypt$ln=4,r=8,p=1$${salt}$pYOUxwKbi6y86Vgk+n6r7lmjo8SMMC0hp5Bu/k7OkJc`,
    '$scrypt$ln=4,r=8,p=1$',
  ],
  [
    'PBKDF2 as passlib writes it',
    `$pbkdf2-sha256$1000$${salt}$${sha256.replaceAll('+', '.')}`,
    '$pbkdf2-sha256$1000$',
  ],
  ['PBKDF2 as a PHC string', `$pbkdf2-sha512$i=1000,l=64$${salt}$${sha512}`, '$pbkdf2-sha512$1000$'],
  ['bcrypt 2a', `$2a$${bcrypt}`, '$2b$04$'],
  ['bcrypt 2b', `$2b$${bcrypt}`, '$2b$04$'],
  ['bcrypt 2y', `$2y$${bcrypt}`, '$2b$04$'],
];
for (const [name, hash, prefix] of made)
  t.test(`a hash made elsewhere, ${name}, is checked and then renewed`, async (t) => {
    t.ok(parsePasswordHash(hash));
    t.match(costOfPasswordHash(hash), { prefix, isBounded: true });
    t.ok(await verifyPasswordHash(hash, password));
    t.notOk(await verifyPasswordHash(hash, `${password}!`));
    const hasher = createPasswordHasher({
      ...{ memoryBytes: 64 * 1024, iterations: 1, parallelism: 1, concurrency: 1, queue: 8 },
      storedHashes: () => [prefix],
    });
    t.strictSame(await hasher.verify(hash, password), { ok: true, rehash: true });
    t.strictSame(await hasher.verify(hash, 'another'), { ok: false, rehash: false });
    t.strictSame(await hasher.verify(null, password), { ok: false, rehash: false }, 'after equal work');
    const dummy = dummyHash(prefix);
    t.ok(parsePasswordHash(dummy), dummy);
    t.equal(costOfPasswordHash(dummy)?.prefix, prefix);
    t.notOk(await verifyPasswordHash(dummy, ''));
  });

const argon2Rest = `${salt}$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g`;
const refused: [name: string, hash: string][] = [
  ['a password', password],
  ['a kind without a salt', '$1$$5f4dcc3b5aa765d61d8327deb882cf99'],
  ['argon2d, which is for no passwords', `$argon2d$v=19$m=19456,t=2,p=1$${argon2Rest}`],
  ['more memory than a gateway has', `$argon2id$v=19$m=4194304,t=1,p=1$${argon2Rest}`],
  ['more passes than anyone waits for', `$argon2id$v=19$m=1048576,t=5,p=1$${argon2Rest}`],
  ['less memory than the lanes need', `$argon2id$v=19$m=8,t=1,p=2$${argon2Rest}`],
  ['scrypt beyond the bound', `$scrypt$ln=21,r=8,p=1$${salt}$${sha256}`],
  ['scrypt in too many lanes', `$scrypt$ln=20,r=8,p=8$${salt}$${sha256}`],
  ['bcrypt beyond the bound', `$2b$17$${bcrypt.slice(3)}`],
  ['bcrypt cut short', `$2b$${bcrypt.slice(0, -1)}`],
  ['another version of bcrypt', `$2x$${bcrypt}`],
  ['PBKDF2 beyond the bound', `$pbkdf2-sha256$5000001$${salt}$${sha256}`],
  ['PBKDF2 with SHA-1', `$pbkdf2$1000$${salt}$${sha256}`],
  ['a second line', `$2b$${bcrypt}\n`],
];
for (const [name, hash] of refused)
  t.test(`refused as a hash from elsewhere: ${name}`, async (t) =>
    t.equal(parsePasswordHash(hash), undefined),
  );

t.test('hashes at the bounds of their parameters are accepted', async (t) => {
  for (const hash of [
    `$argon2id$v=19$m=1048576,t=4,p=1$${argon2Rest}`,
    `$argon2i$v=16$m=8,p=1,t=100$${argon2Rest}`,
    `$scrypt$ln=20,r=8,p=4$${salt}$${sha256}`,
    `$2y$16$${bcrypt.slice(3)}`,
    `$pbkdf2-sha512$5000000$${salt}$${sha512}`,
  ])
    t.ok(parsePasswordHash(hash), hash);
});
