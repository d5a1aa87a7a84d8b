import { resolve } from 'node:path';
import type { Call } from './command.ts';
import { Failure } from './failure.ts';
import { printJsonAlone } from './output.ts';
import { withStores } from './with-stores.ts';

/** `backup FILE`: copies the records, as they are at one moment, to a new file. */
export async function backup(call: Call): Promise<void> {
  const file = resolve(call.operands[0]!);
  await withStores(call, async ({ records }) => {
    try {
      await records.backup(file);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = code === 'EEXIST' ? 'there is a file of that name' : message;
      throw new Failure('failed', `${file} can't be written: ${reason}`, error);
    }
    await printJsonAlone(call, { file });
  });
}
