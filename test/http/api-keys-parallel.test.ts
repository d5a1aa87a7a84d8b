import t from 'tap';
import type { ApiAnswer } from '../support/api-client.ts';
import { startKeyAdministration } from '../support/key-administration.ts';

const rounds = process.env.POSTERN_TEST_LONG === undefined ? 5 : 100;
const idsOf = ({ json }: ApiAnswer): string[] => json.items.map(({ id }: { id: string }) => id);

t.test('64 creations and deletions at a time stay exact, with lists in between', async (t) => {
  const { call, mint } = await startKeyAdministration(t);
  /** As acknowledged. */
  const there = new Set<string>();
  const gone = new Set<string>();
  const create = async (): Promise<void> => {
    there.add((await mint()).id);
  };
  const remove = async (id: string) => {
    // From here on a list may have it or not.
    there.delete(id);
    const { status } = await call('DELETE', id);
    if (status !== 204) throw new Error(`deleting was answered ${status}`);
    gone.add(id);
  };
  const list = async () => {
    const [thereBefore, goneBefore] = [new Set(there), new Set(gone)];
    const answer = await call('GET', '?size=100');
    const ids = new Set(idsOf(answer));
    const missed = [...thereBefore].filter((id) => there.has(id) && !ids.has(id));
    const undead = [...goneBefore].filter((id) => ids.has(id));
    if (answer.json.total !== answer.json.items.length || missed.length > 0 || undead.length > 0)
      t.fail('a list is not exact', { total: answer.json.total, ids, missed, undead });
  };

  for (let round = 0; round < rounds; round += 1) {
    const doomed = [...there].slice(0, 32);
    const changes = Array.from({ length: 64 - doomed.length }, create);
    changes.push(...doomed.map(remove));
    await Promise.all([...changes, ...Array.from({ length: 16 }, list)]);
    const answer = await call('GET', '?size=100');
    t.equal(answer.json.total, there.size);
    t.strictSame(new Set(idsOf(answer)), there);
    while (there.size > 36) await remove([...there][0]!);
  }
});

t.test('of 64 who delete the same key one does', async (t) => {
  const { call, mint } = await startKeyAdministration(t);
  const { id } = await mint();
  const answers = await Promise.all(Array.from({ length: 64 }, () => call('DELETE', id)));
  const counted = [204, 404].map((status) => answers.filter((answer) => answer.status === status).length);
  t.strictSame(counted, [1, 63]);
});

t.test('a key deleted with its children leaves none, not even one minted at that moment', async (t) => {
  const { ask, call, mint } = await startKeyAdministration(t);
  const body = { label: 'child', scopes: ['apikeys:write'] };
  for (let round = 0; round < rounds; round += 1) {
    const { id, key } = await mint({ scopes: ['apikeys:write'] });
    const mintSome = () => Array.from({ length: 16 }, () => ask(body, { apiKey: key }));
    // A crowd of writes to wait behind: what mints is still good when it is authenticated, and gone when it is its turn.
    const crowd = Array.from({ length: 48 }, () => mint());
    const before = mintSome();
    const deleted = call('DELETE', `${id}?children=true`);
    const meanwhile = mintSome();
    t.equal((await deleted).status, 204);
    const after = mintSome();
    const statusesOf = async (answers: Promise<ApiAnswer>[]) =>
      (await Promise.all(answers)).map(({ status }) => status);
    const statuses = await statusesOf([...before, ...meanwhile]);
    t.strictSame([...new Set(statuses)].sort(), [201, 401]);
    t.strictSame(await statusesOf(after), Array(16).fill(401));
    await Promise.all(crowd);
    t.equal((await call('GET', '?label__eq=child')).json.total, 0);
  }
});
