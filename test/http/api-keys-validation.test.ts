import t from 'tap';
import { startKeyAdministration } from '../support/administration/key-administration.ts';
import {
  catalogue,
  extra,
  missing,
  noDate,
  noDateTime,
  noOffset,
  noScope,
  notAList,
  notAString,
  problemsOf,
  tooFewItems,
  tooManyItems,
  tooShortText,
  valueError,
} from '../support/corpora/problems.ts';

const good = { label: 'a', scopes: ['store:read'] };
const many = (count: number) => Array.from({ length: count }, (_, index) => `set-${index}`);

const rows: readonly [name: string, body: object, problems: object[]][] = [
  ['nothing at all', {}, [missing('body', 'label'), missing('body', 'scopes')]],
  ['a blank label', { ...good, label: ' \t\n\u00a0' }, [tooShortText(['body', 'label'], ' \t\n\u00a0')]],
  [
    'a label of 129 code points',
    { ...good, label: '🔑'.repeat(129) },
    [
      {
        type: 'string_too_long',
        loc: ['body', 'label'],
        msg: 'String should have at most 128 characters',
        input: '🔑'.repeat(129),
        ctx: { max_length: 128 },
      },
    ],
  ],
  [
    'a control character in the label',
    { ...good, label: 'a\u0085b' },
    [
      {
        type: 'string_pattern_mismatch',
        loc: ['body', 'label'],
        msg: "String should match pattern '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'",
        input: 'a\u0085b',
        ctx: { pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' },
      },
    ],
  ],
  ['a label that is null', { ...good, label: null }, [notAString(['body', 'label'], null)]],
  ['a label that is a number', { ...good, label: 7 }, [notAString(['body', 'label'], 7)]],
  ['scopes that are null', { ...good, scopes: null }, [notAList(['body', 'scopes'], null)]],
  [
    'scopes that are a string',
    { ...good, scopes: 'store:read' },
    [notAList(['body', 'scopes'], 'store:read')],
  ],
  ['no scope and no set', { label: 'a', scopes: [] }, [tooFewItems(['body', 'scopes'], [])]],
  [
    'no scope and an empty list of sets',
    { label: 'a', scopes: [], scope_sets: [] },
    [tooFewItems(['body', 'scopes'], [])],
  ],
  [
    'scopes of which two are unknown',
    { ...good, scopes: ['store:read', 'store:*', 'STORE:READ'] },
    [noScope(['body', 'scopes', 1], 'store:*'), noScope(['body', 'scopes', 2], 'STORE:READ')],
  ],
  ['a scope that is a number', { ...good, scopes: [1] }, [noScope(['body', 'scopes', 0], 1)]],
  [
    'a duplicate scope',
    { ...good, scopes: ['store:read', 'store:read'] },
    [valueError(['body', 'scopes'], 'items must be distinct', ['store:read', 'store:read'])],
  ],
  [
    '65 scopes',
    { ...good, scopes: Array(65).fill('store:read') },
    [tooManyItems(['body', 'scopes'], 64, Array(65).fill('store:read'))],
  ],
  ['17 sets', { ...good, scope_sets: many(17) }, [tooManyItems(['body', 'scope_sets'], 16, many(17))]],
  [
    'a duplicate set',
    { ...good, scope_sets: ['a', 'a'] },
    [valueError(['body', 'scope_sets'], 'items must be distinct', ['a', 'a'])],
  ],
  ['sets that are null', { ...good, scope_sets: null }, [notAList(['body', 'scope_sets'], null)]],
  ['a set that is a number', { ...good, scope_sets: [1] }, [notAString(['body', 'scope_sets', 0], 1)]],
  [
    'sets that do not exist',
    { ...good, scope_sets: ['administrator', 'nowhere', ''] },
    [
      valueError(['body', 'scope_sets', 1], 'no such scope set', 'nowhere'),
      valueError(['body', 'scope_sets', 2], 'no such scope set', ''),
    ],
  ],
  [
    'an expiry in the past',
    { ...good, expires: '2020-01-01T00:00:00Z' },
    [
      {
        type: 'datetime_future',
        loc: ['body', 'expires'],
        msg: 'Input should be in the future',
        input: '2020-01-01T00:00:00Z',
      },
    ],
  ],
  [
    'an expiry without offset',
    { ...good, expires: '2999-01-01T00:00:00' },
    [noOffset(['body', 'expires'], '2999-01-01T00:00:00')],
  ],
  [
    'an expiry that is a number',
    { ...good, expires: 32503680000 },
    [noDateTime(['body', 'expires'], 32503680000)],
  ],
  [
    'an expiry that is not a time',
    { ...good, expires: 'soon' },
    [noDate(['body', 'expires'], 'soon', 'input is too short')],
  ],
  [
    'an expiry on no day of the calendar',
    { ...good, expires: '2999-02-29T00:00:00Z' },
    [noDate(['body', 'expires'], '2999-02-29T00:00:00Z', 'day value is outside expected range')],
  ],
  [
    'everything wrong at once, and unknown fields in their order',
    { zeta: 1, expires: '', parent: null, scope_sets: {}, scopes: [''], label: '', 1: [] },
    [
      tooShortText(['body', 'label'], ''),
      noScope(['body', 'scopes', 0], ''),
      notAList(['body', 'scope_sets'], {}),
      noDate(['body', 'expires'], '', 'input is too short'),
      // JSON.stringify puts integer-like names first.
      extra(['body', '1'], []),
      extra(['body', 'zeta'], 1),
      extra(['body', 'parent'], null),
    ],
  ],
  ['a raw key as an unknown field', { ...good, key: 'pst_secret' }, [extra(['body', 'key'], null)]],
];

t.test('a malformed key gets every problem at once', async (t) => {
  const { ask, call } = await startKeyAdministration(t);
  for (const [name, body, problems] of rows) t.strictSame(problemsOf(await ask(body)), problems, name);
  t.equal((await call('GET')).json.total, 0, 'and none was created');
});

t.test('values at the limits pass', async (t) => {
  const { ask } = await startKeyAdministration(t);
  const rows: [string, object, object][] = [
    ['128 code points between spaces', { label: ` ${'🔑'.repeat(128)}\n` }, { label: '🔑'.repeat(128) }],
    ['every scope there is', { scopes: catalogue }, { scopes: catalogue }],
    ['a set and no scope', { scopes: [], scope_sets: ['administrator'] }, { scopes: [] }],
    ['null for never', { expires: null }, { expires: null }],
    ['an offset', { expires: '2999-01-01t00:30:00.5+01:00' }, { expires: '2998-12-31T23:30:00.500Z' }],
    ['fine fractions', { expires: '2999-01-01T00:00:00.1239999z' }, { expires: '2999-01-01T00:00:00.123Z' }],
  ];
  for (const [name, body, expected] of rows) {
    const { status, json } = await ask({ ...good, ...body });
    t.equal(status, 201, name);
    t.match(json, expected, name);
  }
});
