import t from 'tap';
import { startKeyAdministration } from '../support/administration/key-administration.ts';

t.test('a deleted key is gone', async (t) => {
  const { call, mint, statusOfUse, logLines, administratorId } = await startKeyAdministration(t);
  const { id, key } = await mint();
  const other = await mint();
  const response = await call('DELETE', id);
  t.strictSame([response.status, response.text], [204, '']);
  t.equal(response.headers['content-length'], undefined, 'RFC 9110 §8.6');
  t.equal(response.headers['cache-control'], 'no-store');
  t.equal(await statusOfUse(key), 401);
  t.equal((await call('GET', id)).status, 404);
  t.equal((await call('DELETE', id)).status, 404, 'once');
  const { json } = await call('GET');
  t.strictSame([json.total, json.items.map(({ id }: { id: string }) => id)], [1, [other.id]]);
  t.equal(await statusOfUse(other.key), 200);
  t.match(
    logLines().filter(({ event }) => event === 'api_key_deleted'),
    [
      {
        audit: true,
        outcome: 'success',
        actor: { user: administratorId, kind: 'session' },
        subject: administratorId,
        key: id,
      },
    ],
  );
});

t.test('keys minted with it stay, or are deleted with it', async (t) => {
  const { call, mint, statusOfUse, logLines } = await startKeyAdministration(t);
  const scopes = ['apikeys:write', 'store:read'];
  const child = (parent: { key: string }) => mint({ scopes }, { apiKey: parent.key });
  const root = await mint({ scopes });
  const first = await child(root);
  const second = await child(root);
  const grandchild = await child(first);
  const stranger = await mint({ scopes });
  const strangersChild = await child(stranger);

  t.equal((await call('DELETE', `${second.id}?children=true`)).status, 204, 'one without children');
  t.equal((await call('DELETE', first.id)).status, 204);
  t.equal(await statusOfUse(grandchild.key), 200);
  t.equal((await call('GET', grandchild.id)).json.parent, first.id, 'it still names it');

  const again = await child(root);
  const below = await child(again);
  t.equal((await call('DELETE', `${root.id}?children=true`)).status, 204);
  for (const { key } of [root, again, below, grandchild]) t.equal(await statusOfUse(key), 401);
  for (const { key } of [stranger, strangersChild]) t.equal(await statusOfUse(key), 200);
  t.equal((await call('DELETE', `${stranger.id}?children=false`)).status, 204);
  t.equal(await statusOfUse(strangersChild.key), 200);
  const audited = logLines().filter(({ event }) => event === 'api_key_deleted');
  t.strictSame(
    audited.map(({ key }) => key).sort(),
    [second.id, first.id, root.id, again.id, below.id, grandchild.id, stranger.id].sort(),
    'each is audited',
  );
  t.ok(
    audited.every(({ subject }) => typeof subject === 'string'),
    'with the user whose key it was',
  );
});

t.test('a key that deletes its parent does not hide its own children', async (t) => {
  const { call, mint, statusOfUse } = await startKeyAdministration(t);
  const scopes = ['apikeys:write', 'store:read'];
  const leaked = await mint({ scopes });
  const child = await mint({ scopes }, { apiKey: leaked.key });
  const hidden = await mint({ scopes }, { apiKey: child.key });
  t.equal((await call('DELETE', child.id, { apiKey: hidden.key })).status, 204);
  t.equal((await call('DELETE', leaked.id, { apiKey: hidden.key })).status, 204);
  t.equal((await call('DELETE', leaked.id)).status, 404, 'it is gone');
  t.equal(
    (await call('DELETE', `${leaked.id}?children=true`)).status,
    204,
    'but it leads to one that is not',
  );
  t.equal(await statusOfUse(hidden.key), 401);
  t.equal((await call('DELETE', `${leaked.id}?children=true`)).status, 404);
});

t.test('a key can delete itself', async (t) => {
  const { call, mint } = await startKeyAdministration(t);
  const { id, key } = await mint({ scopes: ['apikeys:write'] });
  t.equal((await call('DELETE', id, { apiKey: key })).status, 204);
  t.equal((await call('DELETE', id, { apiKey: key })).status, 401);
});

t.test('another gateway on the same records refuses it at once too', async (t) => {
  const first = await startKeyAdministration(t);
  const second = await startKeyAdministration(t, { folder: first.folder });
  for (let round = 0; round < 20; round += 1) {
    const { id, key } = await first.mint();
    t.equal(await second.statusOfUse(key), 200, 'known there');
    t.equal((await first.call('DELETE', id)).status, 204);
    t.equal(await second.statusOfUse(key), 401);
  }
});

t.test('the very next request is refused while twenty clients hammer it', async (t) => {
  const { mint, call, statusOfUse } = await startKeyAdministration(t);
  for (let round = 0; round < 5; round += 1) {
    const { id, key } = await mint();
    let isDeleted = false;
    let accepted = 0;
    const late: number[] = [];
    const client = async () => {
      for (let sentLate = 0; sentLate < 5; ) {
        const wasDeleted = isDeleted;
        // What is in flight at that moment is cut off (0).
        const status = await statusOfUse(key).catch(() => 0);
        if (wasDeleted) {
          late.push(status);
          sentLate += 1;
        } else if (status === 200) accepted += 1;
      }
    };
    const clients = Array.from({ length: 20 }, client);
    while (accepted < 100) await new Promise((resolve) => setTimeout(resolve, 1));
    t.equal((await call('DELETE', id)).status, 204);
    isDeleted = true;
    await Promise.all(clients);
    t.strictSame(late, Array(100).fill(401));
  }
});
