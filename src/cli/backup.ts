import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
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
    const copied = await records.backup(file).catch((error: NodeJS.ErrnoException) => {
      throw new Failure('failed', `${file} can't be written: ${reasonOf(error, file)}`, error);
    });
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of createReadStream(file)) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    const saved = { file, ...copied, bytes, sha256: hash.digest('hex') };
    const counts = [counted(saved.users, 'user'), counted(saved.keys, 'key'), counted(bytes, 'byte')];
    await printResult(call, saved, `${file}: ${counts.join(', ')}, SHA-256 ${saved.sha256}`);
  });
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

/**
 * Opens a copy of the records that has no name any more. While it is made, it has one in a folder of its own (mode 0700) beside
 * the records, where there is room for SQLite's files; in a container, few other folders are writable. A signal removes the
 * folder.
 */
async function copyWithoutName(terminal: Terminal, { config, records }: CommandContext) {
  const address = config.stores.records;
  if (address.kind !== 'sqlite')
    throw new Failure(
      'failed',
      'the records are in PostgreSQL, which is backed up with its own tools (pg_dump)',
    );
  const prefix = join(dirname(address.path), `${basename(address.path)}.backup-`);
  let folder = '';
  const remove = () => folder !== '' && rmSync(folder, { recursive: true, force: true });
  const stop = () => {
    remove();
    terminal.exit(1);
  };
  for (const signal of signals) terminal.on(signal, stop);
  try {
    folder = mkdtempSync(prefix);
    const file = join(folder, 'copy.db');
    await records.backup(file);
    return await open(file, 'r');
  } catch (error) {
    throw new Failure('failed', `a copy of the records can't be made: ${(error as Error).message}`, error);
  } finally {
    remove();
  }
}

const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
