import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { addUser, changeUser, withRecords } from '../support/administration/accounts.ts';
import {
  type KeyAdministration,
  startKeyAdministration,
} from '../support/administration/key-administration.ts';
import { removeUser } from '../support/administration/record-changes.ts';
import { addScopeSet } from '../support/administration/scope-sets.ts';
import { judgeElapsed } from '../support/elapsed.ts';
import { openEventStream, respondWithoutEnd } from '../support/servers/event-stream.ts';

const bea = { username: 'bea', password: 'another horse battery' };

t.test('streams end at once with their key, and with the one it was minted with', async (t) => {
  const { port, upstream, mint, call } = await startKeyAdministration(t);
  upstream.response = respondWithoutEnd;
  const scopes = ['apikeys:write', 'store:read'];
  const open = ({ key }: { key: string }) => openEventStream(port, key);
  const other = await open(await mint({ scopes }));
  // Several times: the regular look at all streams could come by chance just then.
  for (let round = 0; round < 4; round += 1) {
    const parent = await mint({ scopes });
    const child = await mint({ scopes }, { apiKey: parent.key });
    const doomed = await Promise.all([parent, parent, child].map(open));
    t.equal((await call('DELETE', `${parent.id}?children=true`)).status, 204);
    for (let turns = 0; turns < 10; turns += 1) await sleep(2);
    t.strictSame(
      doomed.map(({ isOpen }) => isOpen),
      [false, false, false],
    );
  }
  t.ok(other.isOpen);
  other.close();
});

t.test('a stream of a key is not ended as if the key were a session', async (t) => {
  const { port, upstream, mint, api } = await startKeyAdministration(t);
  upstream.response = respondWithoutEnd;
  const { id, key } = await mint({ scopes: ['store:read'] });
  const { key: apiKey } = await mint({ scopes: ['sessions:write'] });
  const stream = await openEventStream(port, key);
  t.equal((await api.send({ method: 'DELETE', path: `/api/admin/sessions/${id}`, apiKey })).status, 404);
  for (let turns = 0; turns < 10; turns += 1) await sleep(2);
  t.ok(stream.isOpen);
  stream.close();
});

/** What makes a key of Bea's no longer good enough for the stream it has open. */
const sessionEnds: readonly [string, (administration: KeyAdministration, beaId: string) => unknown][] = [
  ['its key expires', ({ advance }) => advance(3_600_000)],
  ['the user of its key is disabled', ({ folder }, id) => changeUser(folder, id, { disabled: true })],
  [
    'the user of its key is removed',
    ({ folder }, id) => withRecords(folder, (records) => removeUser(records, id)),
  ],
  [
    'the user of its key loses the scope',
    ({ folder }, id) => changeUser(folder, id, { scopes: ['apikeys:write'], scopeSets: [] }),
  ],
  [
    'a set of its key loses the scope',
    ({ folder }) => addScopeSet(folder, { id: 's', name: 's', scopes: [] }),
  ],
];

for (const [name, end] of sessionEnds)
  t.test(`a stream ends within a second once ${name}`, async (t) => {
    const administration = await startKeyAdministration(t);
    const { api, folder, upstream, port, mint } = administration;
    upstream.response = respondWithoutEnd;
    await addScopeSet(folder, { id: 's', name: 's', scopes: ['store:read'] });
    const { id } = await addUser(folder, {
      ...bea,
      scopes: ['apikeys:write', 'store:read'],
      scopeSets: ['s'],
    });
    const session = { bearer: (await api.signIn(bea.username, bea.password)).accessToken };
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const { key } = await mint({ scopes: [], scope_sets: ['s'], expires }, session);
    const other = await openEventStream(port, (await mint()).key);
    const stream = await openEventStream(port, key);

    const endedMs = performance.now();
    await end(administration, id);
    await stream.ended;
    judgeElapsed(t, endedMs, 1_000);
    t.ok(other.isOpen);
    other.close();
  });
