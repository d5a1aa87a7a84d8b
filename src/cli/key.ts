import { presentApiKey } from '../endpoints/api-keys/present-api-key.ts';
import type { ListedApiKey } from '../stores/records.ts';
import { allKeysOf } from './all-keys.ts';
import type { Call } from './command.ts';
import { Failure } from './failure.ts';
import { printJsonAlone, printResult, table } from './output.ts';
import { type Workplace, withStores } from './with-stores.ts';

/** `key list`: all keys, newest first; never a key itself. */
export async function listKeys(call: Call): Promise<void> {
  await withStores(call, async (workplace) => {
    const found = await allKeysOf(workplace, {});
    const header = ['ID', 'KEY', 'LABEL', 'USER', 'STATUS', 'EXPIRES', 'LAST USED', 'SCOPES'];
    const rows = found.map((one) => {
      const { id, hint, label, status, expires, last_used, scopes } = present(workplace, one);
      const user = one.owner?.username ?? `${one.key.createdBy} (removed)`;
      return [
        id,
        `${hint}…`,
        label,
        user,
        status,
        expires ?? 'never',
        last_used ?? 'never',
        scopes.join(' '),
      ];
    });
    const shown = found.map((one) => present(workplace, one));
    await printResult(call, shown, table(header, rows));
  });
}

/** `key revoke ID`: the key stops working at once and, with `--children`, all that were minted with it, at any depth. */
export async function revokeKey(call: Call): Promise<void> {
  const id = call.operands[0]!;
  const children = call.isSet('children');
  await withStores(call, async (workplace) => {
    const { records, audit } = workplace;
    const found = await records.findApiKey(id);
    const deleted = await records.deleteApiKey(id, { children });
    if (deleted.length === 0) throw new Failure('failed', `there is no key of the id ${JSON.stringify(id)}`);
    for (const key of deleted)
      audit({ event: 'api_key_deleted', subject: key === id ? (found?.key.createdBy ?? null) : null, key });
    if (children) await printJsonAlone(call, deleted);
    else if (found !== undefined) await printJsonAlone(call, present(workplace, found));
  });
}

/** As the HTTP API shows it, and with what only whoever has the stores is told: the session it was minted with. */
function present({ catalogue, now }: Workplace, found: ListedApiKey) {
  const shown = presentApiKey(found, { hydrate: true, now: now(), catalogue });
  return { ...shown, session: found.key.session };
}
