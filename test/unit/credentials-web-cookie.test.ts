import t from 'tap';
import { createRefreshCookies } from '../../src/credentials/refresh-cookie.ts';
import { createWebCookies } from '../../src/credentials/web-cookie.ts';
import { cookieSecrets } from '../support/administration/signing-keys.ts';

const secret = Buffer.alloc(32, 7);
const id = '01a20537-5a66-7275-9ef7-c2c0ca546a43';
const codec = createWebCookies({ secrets: cookieSecrets(secret), tenant: 'acme', name: 'c_web' });

t.test('a value is read back, again and again', (t) => {
  const value = codec.write(id);
  for (let count = 0; count < 3; count++) t.equal(codec.read(value), id);
  t.end();
});

t.test('no other text is a value', (t) => {
  const value = codec.write(id);
  const [, mac = ''] = value.split('.');
  const flipped = mac.startsWith('A') ? `B${mac.slice(1)}` : `A${mac.slice(1)}`;
  const others = [
    '',
    id,
    `${id}.`,
    `${id}.${flipped}`,
    `${id.toUpperCase()}.${mac}`,
    `"${value}"`,
    ` ${value}`,
    `${value}=`,
    `${id.slice(0, -1)}4.${mac}`,
    createWebCookies({ secrets: cookieSecrets(secret), tenant: 'other', name: 'c_web' }).write(id),
    createWebCookies({ secrets: cookieSecrets(secret), tenant: 'acme', name: 'd_web' }).write(id),
    createWebCookies({ secrets: cookieSecrets(Buffer.alloc(32, 8)), tenant: 'acme', name: 'c_web' }).write(
      id,
    ),
    createRefreshCookies({ secrets: cookieSecrets(secret), tenant: 'acme', name: 'c_web' }).write(id, 1),
  ];
  for (const other of others) t.equal(codec.read(other), undefined, other);
  t.end();
});

t.test('the store is searched for a secret only where a value may be under one', async (t) => {
  let searches = 0;
  const later = Buffer.alloc(32, 9);
  let known = cookieSecrets(secret);
  const codec = createWebCookies({
    secrets: {
      get keys() {
        return known.keys;
      },
      async search() {
        searches += 1;
        known = cookieSecrets(later, secret);
      },
      catchUp: async () => {},
    },
    tenant: 'acme',
    name: 'c_web',
  });
  await codec.learnSecretsOf(['', 'x', `${id}.x`, codec.write(id)]);
  t.equal(searches, 0);
  const value = createWebCookies({ secrets: cookieSecrets(later), tenant: 'acme', name: 'c_web' }).write(id);
  t.equal(codec.read(value), undefined);
  await codec.learnSecretsOf(['x', value]);
  t.equal(searches, 1);
  t.equal(codec.read(value), id);
});
