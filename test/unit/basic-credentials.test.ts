import t from 'tap';
import { decodedBasic, parseBasic } from '../../src/http/basic-credentials.ts';

const encoded = (text: string | Buffer) => Buffer.from(text).toString('base64');

t.test('Basic is split at its first colon', async (t) => {
  const rows: readonly [value: string, userName: string, password: string][] = [
    [`Basic ${encoded('Aladdin:open sesame')}`, 'Aladdin', 'open sesame'],
    [`basic ${encoded('a:b:c')}`, 'a', 'b:c'],
    [`BASIC   ${encoded(':')}`, '', ''],
    [`Basic ${encoded('user:')}`, 'user', ''],
    [`Basic ${encoded('Zoë:påss')}`, 'Zoë', 'påss'],
    [`Basic ${encoded('ab:c').replace(/=+$/, '')}`, 'ab', 'c'],
    [`Basic ${Buffer.from('\u{fffe}?>~:b').toString('base64url')}`, '\u{fffe}?>~', 'b'],
  ];
  for (const [value, userName, password] of rows)
    t.strictSame(parseBasic(value), { userName, password }, value);
});

t.test('anything else is no Basic', async (t) => {
  const values = [
    '',
    'Basic',
    'Basic ',
    `Bearer ${encoded('a:b')}`,
    `Basic${encoded('a:b')}`,
    `Basic\t${encoded('a:b')}`,
  ];
  const broken = ['a:b', `${encoded('a:b')} ${encoded('c:d')}`, `${encoded('a:b')}===`, encoded('no colon')];
  const latin1 = encoded(Buffer.from('Zo\xeb:b', 'latin1'));
  for (const value of [...values, ...[...broken, latin1].map((text) => `Basic ${text}`)])
    t.equal(parseBasic(value), undefined, value);
});

t.test('whatever a lenient server may decode is found', async (t) => {
  const secret = encoded('pst_secret');
  const values = [
    `Basic ${secret}`,
    `Basic YTo=${secret}`,
    `Basic realm=x, ${secret}`,
    `Basic x ${secret}`,
    `Basic:${secret}`,
    `Basic=${secret}`,
    `Basic\xa0${secret}`,
    `Digest, basic ${secret}, Basic eA==`,
    `Basic ${secret.slice(0, 5)} ${secret.slice(5)}`,
  ];
  for (const value of values)
    t.ok(
      decodedBasic(value).some((text) => text.includes('pst_secret')),
      value,
    );
  t.strictSame(decodedBasic('Bearer abc'), []);
});
