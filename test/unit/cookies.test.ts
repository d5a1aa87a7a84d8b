import t from 'tap';
import {
  cookiesWithPrefix,
  cookieValues,
  isOwnCookie,
  separatedCookies,
  setCookie,
  setCookieName,
  withoutCookies,
} from '../../src/http/cookies.ts';

const own = { names: ['refresh'], prefixes: ['refresh_login_'] };

t.test('own cookies go, the others stay byte for byte', (t) => {
  const rows: [string, string, string][] = [
    ['nothing of ours', 'a=1; b=2', 'a=1; b=2'],
    ['odd bytes of others', 'a="x y";b= \xe9 ;c', 'a="x y";b= \xe9 ;c'],
    ['ours alone', 'refresh=x', ''],
    ['both of ours', 'refresh=x; refresh_login_abc-_9=y', ''],
    ['those of several starts', 'refresh_login_aaaaaa=x; a=1;refresh_login_bbbbbb =y', 'a=1'],
    ['one of a start alone', 'refresh_login_aaaaaa=x', ''],
    ['one of a start where a name is missing', '=refresh_login_aaaaaa=x; a=1', 'a=1'],
    [
      'a name that a start’s begins with',
      'refresh_login=x; xrefresh_login_a=y',
      'refresh_login=x; xrefresh_login_a=y',
    ],
    ['ours first', 'refresh=x; a=1;b=2', 'a=1;b=2'],
    ['ours last', 'a=1;  b=2; refresh=x', 'a=1;  b=2'],
    ['ours in the middle', 'a=1; refresh=x;b=2', 'a=1;b=2'],
    ['ours several times', 'refresh=x; a=1; refresh=y', 'a=1'],
    ['blanks around our name', 'a=1;  refresh =x; b=2', 'a=1; b=2'],
    ['tabs around our name', 'a=1;\trefresh\t=x', 'a=1'],
    ['our name without a value', 'a=1; refresh', 'a=1'],
    ['ours with an empty value', 'refresh=; a=1', 'a=1'],
    ['ours without a blank between', 'a=1;refresh=x;b=2', 'a=1;b=2'],
    ['a longer name than ours', 'refresh_more=x; xrefresh=y', 'refresh_more=x; xrefresh=y'],
    ['our name as a value', 'a=refresh', 'a=refresh'],
    ['our name in another case', 'Refresh=x', 'Refresh=x'],
    ['ours as the value of a cookie without a name', 'a=1; =refresh=x', 'a=1'],
  ];
  for (const [name, sent, kept] of rows) t.equal(withoutCookies(sent, own), kept, name);
  t.end();
});

t.test('a cookie of ours behind a comma is one of its own', (t) => {
  const rows: [string, string][] = [
    ['a=1,refresh=x', 'a=1;refresh=x'],
    ['a=1, refresh=x; b=2', 'a=1; refresh=x; b=2'],
    ['a=1,b=2,refresh_login_x=y,c=3', 'a=1,b=2;refresh_login_x=y,c=3'],
    ['a=1,2;b="x, y"', 'a=1,2;b="x, y"'],
    ['', ''],
  ];
  for (const [sent, separated] of rows) t.equal(separatedCookies(sent, own), separated, sent);
  t.equal(withoutCookies(separatedCookies('a=1,refresh=x,b=2', own), own), 'a=1');
  t.end();
});

t.test('values are taken as they stand', (t) => {
  t.same(cookieValues('a=1; refresh=x=y; refresh="q" ;refresh=', 'refresh'), ['x=y', '"q"', '']);
  t.same(cookieValues('xrefresh=1; refreshx=2; refresh', 'refresh'), []);
  t.same(cookieValues('a=1;\t refresh=x\t;b', 'refresh'), ['x']);
  t.same(cookieValues('refresh= x ;refresh=  ;refresh =y', 'refresh'), [' x', '']);
  t.same(cookieValues('a=refresh=1; b= refresh=2; "refresh=3; =refresh=4; x refresh=5', 'refresh'), []);
  t.same(cookieValues('refreshrefresh=1; refresh=refresh=2', 'refresh'), ['refresh=2']);
  t.end();
});

t.test('cookies whose name begins so, each once', (t) => {
  const sent = 'p_a=1; x=2; p_b=; p_a=3; p_; =p_c=4; xp_d=5;p_e=6=7';
  t.same(
    [...cookiesWithPrefix(sent, 'p_')],
    [
      ['p_a', '1'],
      ['p_b', ''],
      ['p_e', '6=7'],
    ],
  );
  t.equal(cookiesWithPrefix('a=1', 'p_').size, 0);
  t.end();
});

t.test(
  'a name that begins with other whitespace is another name to browsers, which keep __Host- from it',
  (t) => {
    for (const space of ['\xa0', '\x85', '\x0b', '\x0c', '\r', '\n', '\u2003', '\ufeff']) {
      t.same(cookieValues(`a=1; ${space}__Host-a=planted`, '__Host-a'), []);
      t.equal(cookiesWithPrefix(`a=1; ${space}__Host-a_x=planted`, '__Host-a_').size, 0);
      t.same(cookieValues(`${space}__Host-a=planted; __Host-a=x`, '__Host-a'), ['x']);
    }
    t.equal(withoutCookies('a=1; \xa0refresh=x', own), 'a=1', 'but a lenient server would read ours');
    t.end();
  },
);

t.test('own names are judged as a whole, prefixes as beginnings', (t) => {
  t.equal(isOwnCookie('refresh', own), true);
  t.equal(isOwnCookie('refresh_login_x', own), true);
  t.equal(isOwnCookie('refresh_more', own), false);
  t.equal(isOwnCookie('Refresh', own), false);
  t.end();
});

t.test('the name a Set-Cookie sets', (t) => {
  t.equal(setCookieName('refresh=x; Path=/'), 'refresh');
  t.equal(setCookieName(' refresh =x'), 'refresh');
  t.equal(setCookieName('a=refresh=x'), 'a');
  t.equal(setCookieName('; Path=/'), '');
  t.equal(
    setCookieName('=refresh=x'),
    'refresh',
    'a cookie without a name comes back as what its value says',
  );
  t.equal(setCookieName('refresh'), 'refresh', 'and so does one without =');
  t.end();
});

t.test('attributes are written in full', (t) => {
  const attributes = { name: 'r', path: '/api', domain: null, secure: true, sameSite: 'lax' } as const;
  t.equal(setCookie(attributes, 'v', 60), 'r=v; Max-Age=60; Path=/api; HttpOnly; Secure; SameSite=Lax');
  t.equal(
    setCookie({ ...attributes, domain: 'a.example', secure: false, sameSite: 'none' }, '', 0),
    'r=; Max-Age=0; Path=/api; Domain=a.example; HttpOnly; SameSite=None',
  );
  t.end();
});
