import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import t from 'tap';
import { mintApiKey } from '../../src/credentials/api-key.ts';
import { credentialsIn } from '../support/gateway/credential-watch.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const jwt = (header: object) =>
  [header, { iss: 'https://acme.example.com' }].map((part) => base64url(JSON.stringify(part))).join('.');

const key = mintApiKey('pst', randomBytes).raw;
const token = `${jwt({ alg: 'ES256', typ: 'at+jwt' })}.${randomBytes(64).toString('base64url')}`;
const session = '01998a2b-0c1d-7e2f-8a3b-4c5d6e7f8091';
const mac = randomBytes(32).toString('base64url');
const credentials = { key, token, cookie: `${session}.${mac}`, refresh: `${session}.12.${mac}` };

const spellings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `Bearer ${text}`,
  (text) => `bEARER\t"${text}"`,
  (text) => `x${text}`,
  (text) => text.replaceAll('_', '%5f').replaceAll('.', '%2E'),
  (text) => `Basic ${base64(`:${text}`)}`,
  (text) => `basic ${base64(`ab:${text}`).replace(/=+$/, '')}`,
  (text) => `BASIC ${base64url(`\u{fffe}?>~:${text}:z`)}`,
  (text) => `Basic ${base64(`abc:${text}`).replace(/.{7}/g, '$& ')}`,
  (text) => `Digest a="${base64(`a:${text}`)}", b`,
  (text) => `/a?b=c&d=${encodeURIComponent(base64(text))}#`,
];

t.test('a credential is known in any spelling', async (t) => {
  for (const [kind, credential] of Object.entries(credentials))
    for (const [index, spell] of spellings.entries())
      t.not(credentialsIn(spell(credential)).length, 0, `${kind}, spelling ${index}`);
});

t.test('nothing else is taken for one', async (t) => {
  for (const text of [
    '',
    '/api/store/x?y=%zz',
    `Bearer ${key.slice(0, -1)}`,
    `Bearer ${jwt({ alg: 'ES256', typ: 'JWT' })}.c2ln`,
    `${jwt({ alg: 'ES256', typ: 'postern-assertion+jwt' })}.c2ln`,
    session,
    `theme=${mac}`,
    `Basic ${base64('aladdin:open sesame, and whatever comes after it')}`,
    randomBytes(300).toString('base64'),
  ])
    t.strictSame(credentialsIn(text), [], text);
});

t.test('an upstream that saw one fails its test, even if the record is cleared', async (t) => {
  const seeing = async (path: string, headers: Record<string, string>) => {
    const other = await startRecordingUpstream({
      heldIn: (text) => (text.includes('a password') ? [text] : []),
    });
    const { port } = new URL(other.url);
    await new Promise<void>((resolve) => {
      request({ port, path, headers, agent: false }, (response) =>
        response.resume().on('end', resolve),
      ).end();
    });
    other.seen.length = 0;
    return other.close();
  };
  await t.resolves(seeing('/', { Authorization: 'Basic YTpi', Cookie: 'theme=dark' }));
  await t.rejects(seeing(`/x?token=${token}`, {}), /the target/);
  await t.rejects(seeing('/x', { 'X-Other': key }), /X-Other for \/x/);
  await t.rejects(seeing('/x', { Cookie: `a=b; c=${credentials.refresh}` }), /Cookie/);
  await t.rejects(seeing('/x', { Authorization: `Basic ${base64('ada:a password')}` }), /Authorization/);
});
