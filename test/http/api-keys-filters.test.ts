import t from 'tap';
import type { ApiKey } from '../../src/stores/api-key.ts';
import { addUser, changeUser } from '../support/administration/accounts.ts';
import { startKeyAdministration } from '../support/administration/key-administration.ts';
import {
  extra,
  noBoolean,
  noDate,
  noneOf,
  noOffset,
  noScope,
  notAString,
  problemsOf,
} from '../support/corpora/problems.ts';
import { storedKey, storeKeys } from '../support/stores/stored-keys.ts';

const password = 'another horse battery';
/** The first of January of a year, as the key has it and as the query spells it. */
const year = (number: number) => Date.UTC(number);
const in2999 = year(2999);

/** A gateway with six keys, named so that a letter is enough to tell them apart. */
async function withSixKeys(t: Parameters<typeof startKeyAdministration>[0]) {
  const administration = await startKeyAdministration(t);
  const { folder, administratorId, call } = administration;
  const { id: disabledId } = await addUser(folder, { username: 'd', password });
  const key = (id: string, label: string, changes: Partial<ApiKey>) =>
    storedKey(administratorId, { id, label, ...changes });
  storeKeys(folder, [
    key('1', 'alpha', { created: year(2001), expires: in2999, lastUsed: year(2011) }),
    key('2', 'Beta', { created: year(2002), expires: year(2003), lastUsed: year(2012) }),
    key('3', 'beta', { created: year(2003), scopes: ['store:read', 'store:write'] }),
    key('4', '50%_\\ Ä', { created: year(2003), scopes: ['store:write'], lastUsed: year(2011) }),
    key('5', '\u{fffd}', { created: year(2004), expires: in2999, createdBy: disabledId }),
    key('6', '🔑', {
      created: year(2004),
      expires: year(2003),
      createdBy: disabledId,
      scopes: [],
      parent: '3',
    }),
  ]);
  await changeUser(folder, disabledId, { disabled: true });
  /** The ids of the response, in its order, and its total. */
  const list = async (query: string): Promise<[string, number]> => {
    const { status, json, text } = await call('GET', `?${query}`);
    if (status !== 200) throw new Error(`${query} was answered ${status} ${text}`);
    return [json.items.map(({ id }: { id: string }) => id).join(''), json.total];
  };
  return { ...administration, disabledId, list };
}

t.test('each field sorts in both orders, ties by id', async (t) => {
  const { list } = await withSixKeys(t);
  const rows = [
    ['', '654321'],
    ['sort_by=created', '654321'],
    ['sort_order=desc', '654321'],
    ['sort_by=created&sort_order=asc', '123456'],
    ['sort_by=label&sort_order=asc', '421356'],
    ['sort_by=label', '653124'],
    ['sort_by=expires&sort_order=asc', '261534'],
    ['sort_by=expires', '435162'],
    ['sort_by=last_used&sort_order=asc', '356142'],
    ['sort_by=last_used', '241653'],
  ] as const;
  for (const [query, ids] of rows) t.strictSame(await list(query), [ids, 6], query);
});

t.test('each filter selects what it says, and all must match', async (t) => {
  const { list, administratorId, disabledId } = await withSixKeys(t);
  const rows = [
    ['label__contains=BETA', '32'],
    ['label__contains=', '654321'],
    ['label__contains=%25', '4'],
    ['label__contains=_', '4'],
    ['label__contains=%5C', '4'],
    ['label__contains=%C3%84', '4'],
    ['label__contains=%C3%A4', ''],
    ['label__contains=%F0%9F%94%91', '6'],
    ['label__eq=beta', '3'],
    ['label__eq=bet', ''],
    ['label__eq=', '654321'],
    ['created__lt=&expires__isnull=&scopes__contains=&size=&hydrate=&status__eq=', '654321'],
    ['created__gte=2003-01-01T00:00:00Z', '6543'],
    ['created__gt=2003-01-01T00:00:00Z', '65'],
    ['created__lte=2003-01-01T00:00:00Z', '4321'],
    ['created__lt=2003-01-01T00:00:00Z', '21'],
    ['created__gte=2003-01-01T01:00:00%2B01:00&created__lt=2004-01-01T00:00:00Z', '43'],
    ['expires__gte=2999-01-01T00:00:00Z', '5431'],
    ['expires__gt=2999-01-01T00:00:00Z', '43'],
    ['expires__lte=2999-01-01T00:00:00Z', '6521'],
    ['expires__lt=2999-01-01T00:00:00Z', '62'],
    ['expires__isnull=true', '43'],
    ['expires__isnull=false', '6521'],
    ['last_used__gte=2012-01-01T00:00:00Z', '2'],
    ['last_used__gt=2011-01-01T00:00:00Z', '2'],
    ['last_used__lte=2011-01-01T00:00:00Z', '65431'],
    ['last_used__lt=2011-01-01T00:00:00Z', '653'],
    ['last_used__lte=2011-01-01T00:00:00Z&last_used__isnull=false', '41'],
    ['last_used__isnull=1', '653'],
    ['last_used__isnull=off', '421'],
    ['scopes__contains=store:write', '43'],
    ['scopes__contains=store:write&scopes__contains=store%3Aread', '3'],
    ['scopes__contains=audit:read', ''],
    [`created_by__eq=${administratorId}`, '4321'],
    [`created_by__eq=${disabledId}`, '65'],
    ['created_by__eq=nobody', ''],
    ['parent__eq=3', '6'],
    ['parent__eq=4', ''],
    ['status__eq=active', '431'],
    ['status__eq=expired', '62'],
    ['status__eq=suspended', '5'],
    [`status__eq=expired&created_by__eq=${administratorId}&label__contains=b`, '2'],
  ] as const;
  for (const [query, ids] of rows) {
    t.strictSame(await list(query), [ids, ids.length], query);
    t.strictSame(
      await list(`${query}&sort_order=asc`),
      [[...ids].reverse().join(''), ids.length],
      `${query}, asc`,
    );
  }
});

t.test('an invalid query gets every problem at once', async (t) => {
  const { call } = await startKeyAdministration(t);
  const q = (name: string) => ['query', name];
  const statuses = "'active', 'expired' or 'suspended'";
  const notAnInteger = {
    type: 'int_parsing',
    msg: 'Input should be a valid integer, unable to parse string as an integer',
  };
  const rows: [string, object[]][] = [
    [
      'size=0',
      [
        {
          type: 'greater_than_equal',
          loc: q('size'),
          msg: 'Input should be greater than or equal to 1',
          input: '0',
          ctx: { ge: 1 },
        },
      ],
    ],
    [
      'size=101',
      [
        {
          type: 'less_than_equal',
          loc: q('size'),
          msg: 'Input should be less than or equal to 100',
          input: '101',
          ctx: { le: 100 },
        },
      ],
    ],
    ['size=5.5', [{ ...notAnInteger, loc: q('size'), input: '5.5' }]],
    ['size=10&size=20', [notAString(q('size'), ['10', '20'])]],
    ['sort_by=hint', [noneOf(q('sort_by'), "'created', 'label', 'expires' or 'last_used'", 'hint')]],
    ['sort_order=ASC', [noneOf(q('sort_order'), "'asc' or 'desc'", 'ASC')]],
    ['hydrate=2', [noBoolean(q('hydrate'), '2')]],
    ['expires__isnull=null', [noBoolean(q('expires__isnull'), 'null')]],
    ['status__eq=revoked', [noneOf(q('status__eq'), statuses, 'revoked')]],
    ['scopes__contains=store:read&scopes__contains=x', [noScope(['query', 'scopes__contains', 1], 'x')]],
    ['scopes__contains=x', [noScope(['query', 'scopes__contains', 0], 'x')]],
    ['created__gt=2026-01-01', [noOffset(q('created__gt'), '2026-01-01')]],
    [
      'created__gt=1767225600',
      [noDate(q('created__gt'), '1767225600', 'invalid date separator, expected `-`')],
    ],
    ['last_used__lt=%20', [noDate(q('last_used__lt'), ' ', 'input is too short')]],
    ['label__eq=a&label__eq=b', [notAString(q('label__eq'), ['a', 'b'])]],
    [
      'label__eq=%FF',
      [
        {
          type: 'string_unicode',
          loc: q('label__eq'),
          msg: 'Input should be a valid string, unable to parse raw data as a unicode string',
          input: '\udcff',
        },
      ],
    ],
    ['label__startswith=a', [extra(q('label__startswith'), 'a')]],
    ['token=abcdefghijk', [extra(q('token'), null)]],
    [
      'zeta=1&status__eq=x&page=2&size=x&hydrate=maybe&created__gt=then&zeta=2',
      [
        { ...notAnInteger, loc: q('size'), input: 'x' },
        noBoolean(q('hydrate'), 'maybe'),
        noDate(q('created__gt'), 'then', 'input is too short'),
        noneOf(q('status__eq'), statuses, 'x'),
        extra(q('zeta'), ['1', '2']),
        extra(q('page'), '2'),
      ],
    ],
  ];
  for (const [query, problems] of rows)
    t.strictSame(problemsOf(await call('GET', `?${query}`)), problems, query);
});
