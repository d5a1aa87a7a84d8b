// Drives the types that openapi-typescript generates, with openapi-fetch: signs in, mints keys, pages and signs out.
// The test copies it beside the generated openapi.ts, checks it with tsc and runs what tsc emits.
import { deepStrictEqual, equal, match } from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './openapi.js';

const [baseUrl, username, password] = process.argv.slice(2) as [string, string, string];
const anonymous = createClient<paths>({ baseUrl });

function logIn(word: string) {
  const body = { username, password: word, scope: 'apikeys:read apikeys:write store:read' };
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return anonymous.POST('/api/login/access-token', { body, headers });
}

const refused = await logIn('wrong');
equal(refused.response.status, 401);
equal(refused.error?.code, 'invalid_credentials');

const { data: signedIn, response } = await logIn(password);
if (signedIn === undefined) throw new Error('not signed in');
const client = createClient<paths>({
  baseUrl,
  headers: { Authorization: `Bearer ${signedIn.access_token}` },
});

const minted: string[] = [];
for (let number = 0; number < 7; number++) {
  const body = { label: `typescript ${number}`, scopes: ['store:read'], scope_sets: [] };
  const { data } = await client.POST('/api/admin/api-keys/', { body });
  match(data!.key, /^pst_/);
  minted.push(data!.id);
}

const paged: string[] = [];
let cursor: string | null = null;
let pages = 0;
do {
  const next: { cursor?: string } = cursor === null ? {} : { cursor };
  const query = { size: 3, label__contains: 'typescript', ...next } as const;
  const { data } = await client.GET('/api/admin/api-keys/', { params: { query } });
  equal(data!.total, 7);
  paged.push(...data!.items.map(({ id }) => id));
  cursor = data!.next_page;
  pages++;
} while (cursor !== null);
equal(pages, 3);
deepStrictEqual(paged.toSorted(), minted.toSorted());

const path = { id: minted[0]! };
const read = await client.GET('/api/admin/api-keys/{id}', { params: { path } });
equal(read.data?.label, 'typescript 0');
equal((await client.DELETE('/api/admin/api-keys/{id}', { params: { path } })).response.status, 204);
equal((await client.GET('/api/admin/api-keys/{id}', { params: { path } })).response.status, 404);

const cookie = response.headers.getSetCookie()[0]!.split(';', 1)[0]!;
const refreshed = await anonymous.POST('/api/login/refresh-token', { headers: { Cookie: cookie } });
equal(refreshed.data?.token_type, 'bearer');
equal((await client.GET('/api/logout')).response.status, 200);
equal((await client.GET('/api/admin/api-keys/')).response.status, 401);
process.stdout.write('done\n');
