import type { User } from '../stores/records.ts';
import { requireUser } from './accounts.ts';
import type { Call } from './command.ts';
import { Failure } from './failure.ts';
import { printJsonAlone } from './output.ts';
import { presentUsers } from './present-users.ts';
import { type Workplace, withStores } from './with-stores.ts';

/** Does `work` on the user whose name is the operand; the user it gives is the result. */
export async function withUser(
  call: Call,
  work: (workplace: Workplace, user: User) => Promise<User>,
): Promise<void> {
  await withStores(call, async (workplace) => {
    const user = await work(workplace, await requireUser(workplace, call.operands[0]!));
    const [presented] = await presentUsers(workplace, [user]);
    await printJsonAlone(call, presented);
  });
}

/** The failure of a command that came too late. */
export function isGone({ username }: User): Failure {
  return new Failure('failed', `${JSON.stringify(username)} has been removed meanwhile`);
}
