import { createHash } from 'node:crypto';
import { constants, createReadStream, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { copyFile, link, open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Call, Failure, type Terminal } from './command.ts';
import { printResult, writeOut } from './terminal.ts';
import { type CommandContext, withStores } from './with-stores.ts';

/** `backup FILE|-`: copies a consistent state of the records to a new file or to standard output. */
export async function backup(call: Call): Promise<void> {
  const [target = ''] = call.operands;
  await (target === '-' ? backupToOutput(call) : backupToFile(call, resolve(target)));
}

async function backupToFile(call: Call, file: string): Promise<void> {
  await withStores(call, async ({ records }) => {
    const saved = await withCopy(call.terminal, file, async (copy) => {
      // Before a long copy, which is given that name in the end.
      if (lstatSync(file, { throwIfNoEntry: false }) !== undefined)
        throw Object.assign(new Error(), { code: 'EEXIST' });
      const copied = await records.backup(copy);
      const hash = createHash('sha256');
      let bytes = 0;
      for await (const chunk of createReadStream(copy)) {
        hash.update(chunk);
        bytes += chunk.length;
      }
      await putInPlace(copy, file);
      return { file, ...copied, bytes, sha256: hash.digest('hex') };
    }).catch((error: NodeJS.ErrnoException) => {
      throw new Failure('failed', `${file} can't be written: ${reasonOf(error, file)}`, error);
    });
    const counts = [counted(saved.users, 'user'), counted(saved.keys, 'key'), counted(saved.bytes, 'byte')];
    await printResult(call, saved, `${file}: ${counts.join(', ')}, SHA-256 ${saved.sha256}`);
  });
}

/** Error codes of file systems without hard links, such as those of USB sticks. */
const withoutLinks = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'];

/** Gives a finished copy the name `file`; rejects with `EEXIST`, and leaves the file alone, if there is one of that name. */
export async function putInPlace(copy: string, file: string, makeLink = link): Promise<void> {
  try {
    await makeLink(copy, file);
  } catch (error) {
    if (!withoutLinks.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await copyFile(copy, file, constants.COPYFILE_EXCL);
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException, file: string): string {
  if (code === 'EEXIST') return 'there is a file of that name';
  if (code === 'ENOENT') return `there is no folder ${dirname(file)}`;
  return code === 'EACCES' ? 'permission denied' : message;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/**
 * Writes the copy to standard output and its SHA-256 to standard error, as `sha256sum` would, so that a receiver can detect a
 * truncated copy. The copy is made in a file first: a slow reader would keep a snapshot open, so that SQLite's log would grow.
 */
async function backupToOutput(call: Call): Promise<void> {
  const { stdout, stderr } = call.terminal;
  if (stdout.isTTY)
    throw new Failure('usage', 'the copy is binary and not for a terminal: redirect standard output');
  if (call.isSet('json'))
    throw new Failure('usage', 'backup - and --json exclude each other: standard output is the copy');
  await withStores(call, async (context) => {
    const copy = await copyWithoutName(call.terminal, context);
    const hash = createHash('sha256');
    try {
      for await (const chunk of copy.createReadStream({ autoClose: false, highWaterMark: chunkBytes })) {
        hash.update(chunk);
        await writeOut(call.terminal, chunk);
      }
    } finally {
      await copy.close();
    }
    stderr.write(`${hash.digest('hex')}  -\n`);
  });
}

const chunkBytes = 256 * 1024;

/** Opens a copy of the records that has lost its name. It is made beside the records: a container has few writable folders. */
async function copyWithoutName(terminal: Terminal, { config, records }: CommandContext) {
  const address = config.stores.records;
  if (address.kind !== 'sqlite')
    throw new Failure(
      'failed',
      'the records are in PostgreSQL, which is backed up with its own tools (pg_dump)',
    );
  return withCopy(terminal, address.path, async (copy) => {
    await records.backup(copy);
    return open(copy, 'r');
  }).catch((error: Error) => {
    throw new Failure('failed', `a copy of the records can't be made: ${error.message}`, error);
  });
}

/**
 * Runs `use` with the name for a copy in a new folder (mode 0700) beside a file, where no one else can put another file in place
 * of the copy or of SQLite's files. The folder is removed when `use` ends, and by a signal.
 */
async function withCopy<T>(terminal: Terminal, file: string, use: (copy: string) => Promise<T>): Promise<T> {
  let folder = '';
  const remove = () => folder !== '' && rmSync(folder, { recursive: true, force: true });
  const stop = () => {
    remove();
    terminal.exit(1);
  };
  for (const signal of signals) terminal.on(signal, stop);
  try {
    folder = mkdtempSync(`${file}.backup-`);
    return await use(join(folder, 'copy.db'));
  } finally {
    remove();
  }
}

const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
