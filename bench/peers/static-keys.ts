import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Credentials, credentialCount, type Surroundings } from './peer.ts';

/** Random keys about as long as Postern's, for the peers that have a static list. */
export function createStaticKeys(): string[] {
  return Array.from({ length: credentialCount }, () => `pst_${randomBytes(17).toString('hex')}`);
}

/** The static keys, as a client sends them. */
export function staticCredentials({ keys }: Surroundings): Credentials {
  return { header: 'X-API-Key', values: keys };
}

/** Writes `name` into the peer's folder, one line for each key; returns its path. */
export function writeKeys(
  { directory, keys }: Surroundings,
  name: string,
  line: (key: string, subject: string) => string,
): string {
  const file = join(directory, name);
  writeFileSync(file, keys.map((key, index) => `${line(key, `subject-${index}`)}\n`).join(''));
  return file;
}
