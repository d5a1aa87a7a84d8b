import { pbkdf2, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { costOfPasswordHash, parsePasswordHash } from '../rules/password-hash.ts';

const pbkdf2Of = promisify(pbkdf2);
const scryptOf = promisify<string, Buffer, number, object, Buffer>(scrypt);

/** Loads the addon, which a gateway that is asked for keys and tokens alone does without. */
export async function loadArgon2() {
  return (await import('argon2')).default;
}

/** Checks a password, off the event loop, against a hash of any kind that `parsePasswordHash` knows. */
export async function verifyPasswordHash(hash: string, password: string): Promise<boolean> {
  // Hashes of our own, whose cost the configuration bounds.
  if (hash.startsWith('$argon2')) return (await loadArgon2()).verify(hash, password);
  switch (parsePasswordHash(hash)) {
    case 'bcrypt':
      return verifyBcrypt(hash, password);
    case 'scrypt':
      return verifyScrypt(hash, password);
    case 'pbkdf2':
      return verifyPbkdf2(hash, password);
    default:
      return false;
  }
}

/** Makes a hash that no password matches, and whose check costs as much as one with that prefix. */
export function dummyHash(prefix: string): string {
  switch (costOfPasswordHash(prefix)?.kind) {
    case 'bcrypt':
      return `${prefix}${bcryptText(21)}.${bcryptText(31)}`;
    case 'pbkdf2':
      return `${prefix}${random(16)}$${random(prefix.includes('sha512') ? 64 : 32)}`;
    default:
      return `${prefix}${random(16)}$${random(32)}`;
  }
}

async function verifyBcrypt(hash: string, password: string): Promise<boolean> {
  // Loaded where it is needed: most stores have no such hash.
  const { compare } = await import('bcrypt');
  // `$2y$` is PHP's name for `$2b$`.
  return compare(password, hash.replace(/^\$2y\$/, '$2b$'));
}

async function verifyScrypt(hash: string, password: string): Promise<boolean> {
  const [, , parameters, salt, expected] = hash.split('$') as [string, string, string, string, string];
  const [, ln, r, p] = /^ln=(\d+),r=(\d+),p=(\d+)$/.exec(parameters)!;
  const [N, blocks, lanes] = [2 ** Number(ln), Number(r), Number(p)];
  const bytes = fromBase64(expected);
  // RFC 7914 §6: 128 · r · (N + p) and a little more.
  const maxmem = 128 * blocks * (N + lanes + 2) + 1024 * 1024;
  const cost = { N, r: blocks, p: lanes, maxmem };
  return timingSafeEqual(await scryptOf(password, fromBase64(salt), bytes.length, cost), bytes);
}

async function verifyPbkdf2(hash: string, password: string): Promise<boolean> {
  const [, name, parameters, salt, expected] = hash.split('$') as [string, string, string, string, string];
  const [, rounds] = /^(?:i=)?(\d+)/.exec(parameters)!;
  const bytes = fromBase64(expected);
  const digest = name.slice('pbkdf2-'.length);
  const found = await pbkdf2Of(password, fromBase64(salt), Number(rounds), bytes.length, digest);
  return timingSafeEqual(found, bytes);
}

/** Decodes base64 without padding; passlib writes `.` for `+`. */
function fromBase64(text: string): Buffer {
  return Buffer.from(text.replaceAll('.', '+'), 'base64');
}

/** Random bytes in base64 without padding, as in PHC strings. */
function random(bytes: number): string {
  return randomBytes(bytes).toString('base64').replace(/=+$/, '');
}

const bcryptAlphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

function bcryptText(length: number): string {
  return [...randomBytes(length)].map((byte) => bcryptAlphabet[byte % bcryptAlphabet.length]).join('');
}
