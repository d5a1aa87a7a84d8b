import t from 'tap';
import {
  type KeyAdministration,
  startKeyAdministration,
} from '../support/administration/key-administration.ts';
import { storedKey, storeKeys } from '../support/stores/stored-keys.ts';

interface Page {
  readonly ids: string;
  readonly total: number;
  readonly current: string;
  readonly currentBackwards: string;
  readonly previous: string | null;
  readonly next: string | null;
}

/** A gateway with the keys 1, 2, 3, …, created in that order. */
async function withKeys(t: Parameters<typeof startKeyAdministration>[0], ids: string) {
  const administration = await startKeyAdministration(t);
  addKeys(administration, ids);
  const page = async (query: string): Promise<Page> => {
    const { status, json, text } = await administration.call('GET', `?sort_order=asc&${query}`);
    if (status !== 200) throw new Error(`${query} was answered ${status} ${text}`);
    return {
      ids: json.items.map(({ id }: { id: string }) => id).join(''),
      total: json.total,
      current: json.current_page,
      currentBackwards: json.current_page_backwards,
      previous: json.previous_page,
      next: json.next_page,
    };
  };
  const at = (cursor: string | null, more = 'size=3') => page(`${more}&cursor=${cursor}`);
  return { ...administration, page, at };
}

function addKeys({ folder, administratorId }: KeyAdministration, ids: string): void {
  const keys = [...ids].map((id) => storedKey(administratorId, { id, created: id.charCodeAt(0) }));
  storeKeys(folder, keys);
}

t.test('cursors lead from page to page and return each again, from either end', async (t) => {
  const { page, at } = await withKeys(t, '12345678');
  const first = await page('size=3');
  const second = await at(first.next);
  const third = await at(second.next);
  t.strictSame([first.ids, second.ids, third.ids], ['123', '456', '78']);
  t.strictSame([first.previous, third.next], [null, null], 'null at the ends');
  t.equal((await at(second.previous)).ids, '123');
  t.equal((await at(third.previous)).ids, '456');
  for (const each of [first, second, third])
    for (const cursor of [each.current, each.currentBackwards]) {
      t.match(cursor, /^[A-Za-z0-9_-]+$/);
      const again = await at(cursor);
      t.strictSame([again.ids, again.total], [each.ids, 8]);
      t.equal((await at(again.current)).ids, each.ids, 'and once more');
      t.equal((await at(again.currentBackwards)).ids, each.ids);
      t.strictSame([again.previous, again.next], [each.previous, each.next]);
    }
});

t.test('a short first page is returned again unchanged', async (t) => {
  const { page, at } = await withKeys(t, '45678');
  const second = await at((await page('size=3')).next);
  const first = await at(second.previous, 'size=5');
  t.strictSame([first.ids, first.previous], ['456', null]);
  for (const cursor of [first.current, first.currentBackwards]) {
    const again = await at(cursor, 'size=5');
    t.strictSame([again.ids, again.previous], ['456', null]);
    t.equal((await at(again.next)).ids, '78');
  }
});

t.test('size and hydrate may change between pages', async (t) => {
  const { page, at, call } = await withKeys(t, '12345678');
  const { next } = await page('size=3&hydrate=true');
  t.equal((await at(next, 'size=4&hydrate=false')).ids, '4567');
  t.equal((await at(next, 'size=1')).ids, '4');
  const { json } = await call('GET', `?sort_order=asc&hydrate=0&cursor=${next}`);
  t.match(json.items, Array(5).fill({ created_by: String }));
  t.equal(json.next_page, null);
  const spelt = await call('GET', `?sort_by=created&sort_order=asc&cursor=${next}`);
  t.equal(spelt.status, 200, 'a default that is spelt out is the same sort');
});

t.test('keys that come and go around a page', async (t) => {
  const administration = await withKeys(t, '2468');
  const { page, at, call } = administration;
  const first = await page('size=2');
  const second = await at(first.next, 'size=2');
  t.strictSame([first.ids, second.ids], ['24', '68']);

  addKeys(administration, '13579');
  t.equal((await at(first.next)).ids, '567', 'from behind the last item');
  t.equal((await at(second.previous)).ids, '345', 'up to before the first item');
  t.equal((await at(first.current)).ids, '234');
  t.notSame((await at(first.current)).previous, null, 'something came before it');

  for (const gone of '45') t.equal((await call('DELETE', gone)).status, 204);
  t.equal((await at(first.next)).ids, '678', 'the key of a cursor may be gone');
  t.equal((await at(first.currentBackwards)).ids, '123');
});

t.test('a page whose keys are all gone still leads to the remaining ones', async (t) => {
  const { page, at, call } = await withKeys(t, '123456');
  const first = await page('size=3');
  const second = await at(first.next);
  for (const gone of '456') await call('DELETE', gone);
  for (const cursor of [first.next, second.current]) {
    const empty = await at(cursor);
    t.strictSame([empty.ids, empty.total, empty.next], ['', 3, null]);
    t.equal((await at(empty.previous)).ids, '123');
    t.equal((await at(empty.current)).ids, '');
    t.equal((await at(empty.currentBackwards)).ids, '');
  }
  for (const gone of '12') await call('DELETE', gone);
  t.equal((await at(first.currentBackwards)).ids, '3');
  await call('DELETE', '3');
  const none = await at(second.previous);
  t.strictSame([none.ids, none.total, none.previous, none.next], ['', 0, null, null]);
});

t.test('a list whose first pages are gone leads on to the remaining ones', async (t) => {
  const { page, at, call } = await withKeys(t, '123456');
  const second = await at((await page('size=3')).next);
  for (const gone of '123') await call('DELETE', gone);
  const empty = await at(second.previous);
  t.strictSame([empty.ids, empty.total, empty.previous], ['', 3, null]);
  t.equal((await at(empty.next)).ids, '456');
});

t.test('an empty list has a page', async (t) => {
  const { page, at } = await withKeys(t, '');
  const empty = await page('');
  t.strictSame([empty.ids, empty.total, empty.previous, empty.next], ['', 0, null, null]);
  for (const cursor of [empty.current, empty.currentBackwards]) t.equal((await at(cursor)).ids, '');
});

t.test('a cursor is valid for its own list only', async (t) => {
  const { page, call } = await withKeys(t, '1234');
  const stranger = await withKeys(t, '1234');
  const shared = 'sort_by=expires&sort_order=desc&label__contains=key&scopes__contains=store:read&size=2';
  const { json } = await call('GET', `?${shared}`);
  const cursor: string = json.next_page;
  const altered = (index: number) => {
    const bytes = Buffer.from(cursor, 'base64url');
    bytes[index]! ^= 1;
    return bytes.toString('base64url');
  };
  const other = (await page('size=2')).next;
  const good = await call('GET', `?${shared}&cursor=${cursor}`);
  t.equal(good.status, 200, 'as it is');
  const blank = await call('GET', `?${shared}&cursor=`);
  t.strictSame([blank.status, blank.json.items], [200, json.items], 'a blank one counts as absent');

  const length = Buffer.from(cursor, 'base64url').length;
  const rows = [
    ['no base64url', shared, `${cursor}!`],
    ['padding', shared, `${cursor}=`],
    ['plain text', shared, 'page2'],
    ['too long', shared, 'A'.repeat(6_000)],
    ['another byte in front', shared, altered(0)],
    ['another byte at the end', shared, altered(length - 1)],
    ['cut short', shared, cursor.slice(0, -4)],
    [
      'cut to the authentication',
      shared,
      Buffer.from(cursor, 'base64url').subarray(0, 32).toString('base64url'),
    ],
    ['something appended', shared, `${cursor}AAAA`],
    ['of another sort', shared, other],
    ['another sort field', shared.replace('expires', 'label'), cursor],
    ['another order', shared.replace('desc', 'asc'), cursor],
    ['another filter value', shared.replace('contains=key', 'contains=k'), cursor],
    ['a filter less', shared.replace('&label__contains=key', ''), cursor],
    ['a filter more', `${shared}&expires__isnull=true`, cursor],
  ] as const;
  for (const [name, query, text] of rows) {
    const { status, json, headers } = await call('GET', `?${query}&cursor=${text}`);
    t.equal(status, 400, name);
    t.match(json, { code: 'invalid_cursor', detail: 'Invalid cursor value', request_id: /./ }, name);
    t.equal(headers['www-authenticate'], undefined);
  }
  const abroad = await stranger.call('GET', `?${shared}&cursor=${cursor}`);
  t.strictSame([abroad.status, abroad.json.code], [400, 'invalid_cursor'], "another gateway's secret");
});

t.test('a cursor is valid on every gateway with the same records, also after a restart', async (t) => {
  const first = await withKeys(t, '1234');
  const { next } = await first.page('size=2');
  const second = await startKeyAdministration(t, { folder: first.folder });
  const { status, json } = await second.call('GET', `?sort_order=asc&size=2&cursor=${next}`);
  t.strictSame([status, json.items.map(({ id }: { id: string }) => id)], [200, ['3', '4']]);
});

t.test('cursors hold any value that sorts', async (t) => {
  const { call, folder, administratorId } = await startKeyAdministration(t);
  const labels = ['\u0001'.repeat(128), '"\\'.repeat(64), '\u{10ffff}'.repeat(128), '🔑', '\u{fffd}'];
  const instants = [null, 0, 253_402_300_799_999];
  storeKeys(
    folder,
    labels.map((label, index) =>
      storedKey(administratorId, {
        label,
        expires: instants[index % 3]!,
        lastUsed: instants[(index + 1) % 3]!,
      }),
    ),
  );
  for (const sortBy of ['created', 'label', 'expires', 'last_used'])
    for (const order of ['asc', 'desc']) {
      const query = `?sort_by=${sortBy}&sort_order=${order}&size=1`;
      const seen = new Set<string>();
      let page = (await call('GET', query)).json;
      for (; page.next_page !== null; page = (await call('GET', `${query}&cursor=${page.next_page}`)).json)
        seen.add(page.items[0].id);
      for (
        ;
        page.previous_page !== null;
        page = (await call('GET', `${query}&cursor=${page.previous_page}`)).json
      )
        seen.delete(page.items[0].id);
      t.equal(seen.size, 1, `${sortBy} ${order}: there and back again`);
    }
});
