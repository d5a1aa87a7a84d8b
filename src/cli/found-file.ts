import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { reasonOf } from '../config/report/outside-values.ts';
import { Failure } from './command.ts';

/** Maximum size of a file that no one has named, bytes. */
const maxBytes = 1024 * 1024;

/** Deviations from the usual reading of a found file. */
interface FoundFileOptions {
  /** Default: the user of this process. */
  readonly euid?: number;
  /** End of the sentence that refuses the file; default: to name it with `--config`. */
  readonly cure?: string;
}

const ownUser = process.geteuid?.() ?? 0;

/**
 * Reads a file that no one has named, because it is in a folder: whoever may write it could have Postern read any file that the
 * caller may. Undefined if there is none. Throws Failure `configuration` unless it is a regular file of at most 1 MiB that,
 * like the folder it is in, belongs to root or the user `euid`, and that no one else can change. The folder that the search
 * began in is the caller's choice.
 */
export function readFoundFile(
  folder: string,
  name: string,
  { euid = ownUser, cure }: FoundFileOptions = {},
): Buffer | undefined {
  const path = join(folder, name);
  const refuse = (what: string, problem: string) => {
    const naming = `name ${what === name ? 'it' : `./${name}`} with --config if you trust it`;
    return new Failure('configuration', `postern: ./${what} ${problem}: ${cure ?? naming}`);
  };
  let file: number;
  try {
    // A pipe without a writer doesn't stop the opening, and a terminal doesn't become that of this process.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw refuse(name, `can't be read: ${reasonOf(error)}`);
  }
  try {
    const above = dirname(name);
    const ofFolder = above === '.' ? undefined : problemOfFolder(join(folder, above), euid);
    if (ofFolder !== undefined) throw refuse(above, ofFolder);
    const stats = fstatSync(file);
    const problem = stats.isFile() ? problemOf(path, stats, euid) : 'is not a regular file';
    if (problem !== undefined) throw refuse(name, problem);
    const bytes = readUpTo(file, maxBytes + 1);
    if (bytes.length > maxBytes) throw refuse(name, 'is larger than 1 MiB');
    return bytes;
  } finally {
    closeSync(file);
  }
}

/** The reason why a folder isn't the user's alone; undefined if it is, or if there is none. Others may read it. */
export function problemOfFolder(path: string, euid = ownUser): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : problemOf(path, stats, euid);
}

/** The reason why what is at a path, or the link that leads there, isn't the user's alone; undefined if it is. */
function problemOf(path: string, stats: Stats, euid: number): string | undefined {
  const link = lstatSync(path, { throwIfNoEntry: false });
  const owners = [stats.uid, ...(link?.isSymbolicLink() === true ? [link.uid] : [])];
  if (owners.some((uid) => uid !== 0 && uid !== euid)) return 'belongs to another user';
  if ((stats.mode & 0o022) !== 0) return 'can be changed by other users (chmod go-w ends that)';
  return undefined;
}

function readUpTo(file: number, limit: number): Buffer {
  const buffer = Buffer.alloc(limit);
  let length = 0;
  while (length < limit) {
    const count = readSync(file, buffer, length, limit - length, null);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}
