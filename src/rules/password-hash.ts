/** Accepted kinds of password hashes; hashes other than argon2id are replaced at the next sign-in. */
export type PasswordHashKind = 'argon2' | 'bcrypt' | 'scrypt' | 'pbkdf2';

/** Cost of checking a password hash. */
export interface PasswordHashCost {
  readonly kind: PasswordHashKind;
  /** Algorithm and parameters, in one spelling, without salt and digest. */
  readonly prefix: string;
  /** True if the cost is within the bounds for hashes from outside. */
  readonly isBounded: boolean;
}

/** The rule for password hashes, in words. */
export const passwordHashRule =
  'must be a hash beginning with $argon2id$, $argon2i$, $scrypt$, $2a$, $2b$, $2y$, $pbkdf2-sha256$ or $pbkdf2-sha512$, within bounds of cost';

/** Bounds of the cost of a check: an attempt must neither exhaust a gateway's memory nor hold a thread for long. */
const mostMemoryKiB = 1024 * 1024;
const mostMemoryPasses = 4 * mostMemoryKiB;
const mostLanes = 64;
const bcryptRounds = { min: 4, max: 16 };
const mostPbkdf2Rounds = 5_000_000;

/** Patterns for the beginning of a hash: algorithm and parameters. */
const prefixes: Readonly<Record<PasswordHashKind, RegExp>> = {
  // RFC 9106 §3.1 and the PHC string format; `t` and `p` come in either order.
  argon2:
    /^\$(argon2(?:id|i|d))\$v=(\d{1,3})\$m=(\d{1,9}),(?:t=(\d{1,9}),p=(\d{1,9})|p=(\d{1,9}),t=(\d{1,9}))\$/,
  scrypt: /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$/,
  bcrypt: /^\$2[aby]\$(\d\d)\$/,
  // As passlib writes it, or in the PHC string format.
  pbkdf2: /^\$(pbkdf2-sha(?:256|512))\$(?:(\d{1,9})|i=(\d{1,9})(?:,l=\d{1,3})?)\$/,
};

/** Patterns for the rest of a hash: salt and digest. */
const rests: Readonly<Record<PasswordHashKind, RegExp>> = {
  argon2: /^[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{16,128}$/,
  scrypt: /^[A-Za-z0-9+/.]{1,128}\$[A-Za-z0-9+/.]{22,172}$/,
  bcrypt: /^[./A-Za-z0-9]{53}$/,
  // At most 64 bytes: each further block would cost as much again.
  pbkdf2: /^[A-Za-z0-9+/.]{1,128}\$[A-Za-z0-9+/.]{22,86}$/,
};

/** The kind of a password hash from outside; undefined if it is malformed or beyond the bounds. */
export function parsePasswordHash(hash: string): PasswordHashKind | undefined {
  const cost = costOfPasswordHash(hash);
  if (cost === undefined || !cost.isBounded || /^\$argon2d\$/.test(hash)) return undefined;
  const rest = hash.slice(hash.match(prefixes[cost.kind])![0].length);
  return rests[cost.kind].test(rest) ? cost.kind : undefined;
}

/** The cost of checking a hash, given whole or by its beginning; undefined for other texts. */
export function costOfPasswordHash(beginning: string): PasswordHashCost | undefined {
  return argon2Cost(beginning) ?? bcryptCost(beginning) ?? scryptCost(beginning) ?? pbkdf2Cost(beginning);
}

function argon2Cost(text: string): PasswordHashCost | undefined {
  const [, name, version, m, t, p, otherP, otherT] = prefixes.argon2.exec(text) ?? [];
  if (name === undefined) return undefined;
  const [memory, passes, lanes] = [Number(m), Number(t ?? otherT), Number(p ?? otherP)];
  const isBounded =
    ['16', '19'].includes(version!) &&
    isBetween(lanes, 1, mostLanes) &&
    isBetween(memory, 8 * lanes, mostMemoryKiB) &&
    isBetween(passes, 1, mostMemoryPasses / memory);
  const prefix = `$${name}$v=${version}$m=${m},t=${t ?? otherT},p=${p ?? otherP}$`;
  return { kind: 'argon2', prefix, isBounded };
}

function bcryptCost(text: string): PasswordHashCost | undefined {
  const [, rounds] = prefixes.bcrypt.exec(text) ?? [];
  if (rounds === undefined) return undefined;
  const isBounded = isBetween(Number(rounds), bcryptRounds.min, bcryptRounds.max);
  return { kind: 'bcrypt', prefix: `$2b$${rounds}$`, isBounded };
}

function scryptCost(text: string): PasswordHashCost | undefined {
  const [, ln, r, p] = prefixes.scrypt.exec(text) ?? [];
  if (ln === undefined) return undefined;
  const [logN, blocks, lanes] = [Number(ln), Number(r), Number(p)];
  const memoryKiB = (2 ** logN * blocks) / 8;
  const isBounded =
    isBetween(logN, 1, 24) &&
    isBetween(blocks, 1, 64) &&
    isBetween(lanes, 1, mostLanes) &&
    memoryKiB <= mostMemoryKiB &&
    memoryKiB * lanes <= mostMemoryPasses;
  return { kind: 'scrypt', prefix: `$scrypt$ln=${logN},r=${blocks},p=${lanes}$`, isBounded };
}

function pbkdf2Cost(text: string): PasswordHashCost | undefined {
  const [, name, passlib, phc] = prefixes.pbkdf2.exec(text) ?? [];
  if (name === undefined) return undefined;
  const rounds = Number(passlib ?? phc);
  return { kind: 'pbkdf2', prefix: `$${name}$${rounds}$`, isBounded: isBetween(rounds, 1, mostPbkdf2Rounds) };
}

function isBetween(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}
