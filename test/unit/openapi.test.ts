import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { z } from 'zod';
import { catalogueOf } from '../../src/config/values/scope-names.ts';
import { refusals } from '../../src/errors.ts';
import { openApiDocument } from '../../src/openapi/document.ts';

interface Media {
  schema: Record<string, unknown>;
  examples?: Record<string, { value: { code: string } }>;
}

interface TestResponse {
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: { 'application/json': Media };
}

interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, TestResponse>;
}

interface Document {
  openapi: string;
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, any>>;
}

const document = openApiDocument() as Document;
const text = `${JSON.stringify(document, null, 2)}\n`;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);
const operationOf = (id: string) =>
  operations.find(({ operation }) => operation.operationId === id)!.operation;

t.test('docs/openapi.json is up to date; UPDATE=1 rewrites it', async (t) => {
  const file = 'docs/openapi.json';
  if (process.env.UPDATE) writeFileSync(file, text);
  t.equal(readFileSync(file, 'utf8'), text);
});

t.test('the document is the same each time it is made', async (t) => {
  t.strictSame(openApiDocument(), document);
});

t.test('a gateway’s own document has the paths below its api_path', async (t) => {
  const elsewhere = JSON.stringify(openApiDocument('/postern/api'));
  t.equal(elsewhere, JSON.stringify(document).replaceAll('"/api/', '"/postern/api/'));
  t.ok(elsewhere.includes('"tokenUrl":"/postern/api/login/access-token"'));
});

t.test('it has the schemas that clients know by name', async (t) => {
  const names = Object.keys(document.components.schemas!);
  for (const name of [
    'LoginResponse',
    'Body_Authentication-Login',
    'ApiKeyRead',
    'ApiKeyInDb',
    'ApiKeyInDbCursorPage',
    'ApiKeyWriteCreate',
    'ApiKeyReadCreate',
    'HTTPValidationError',
    'ValidationError',
    'Error',
    'OAuthError',
  ])
    t.ok(names.includes(name), name);
});

t.test('operations are named by tag and name, each once', async (t) => {
  const ids = operations.map(({ operation }) => operation.operationId);
  t.ok(ids.includes('Authentication-Login'));
  t.equal(new Set(ids).size, ids.length);
  const tags = document.tags.map(({ name }) => name);
  for (const { operation } of operations) {
    t.match(operation.operationId, /^[A-Z]\w*-[A-Z]\w*$/);
    t.strictSame(operation.tags, [operation.operationId.split('-')[0]]);
    t.ok(tags.includes(operation.tags[0]!), operation.operationId);
    t.ok(operation.summary && operation.description, `${operation.operationId}: what linters want`);
  }
});

t.test('every reference leads somewhere, and every component is used', async (t) => {
  const used = new Set([...text.matchAll(/"\$ref": "#\/components\/([^"]+)"/g)].map(([, path]) => path));
  for (const { security } of operations.map(({ operation }) => operation))
    for (const scheme of security.flatMap(Object.keys)) used.add(`securitySchemes/${scheme}`);
  const there = Object.entries(document.components).flatMap(([kind, components]) =>
    Object.keys(components).map((name) => `${kind}/${name}`),
  );
  t.strictSame([...used].sort(), there.sort());
  t.equal(text.match(/"\$ref": "#\/(?!components\/)/), null);
});

t.test('an operation guarded by a scope names it for both credentials', async (t) => {
  const { security, responses } = operationOf('ApiKeys-Create');
  t.strictSame(security, [{ access_token: ['apikeys:write'] }, { api_key: ['apikeys:write'] }]);
  t.match(responses[403]!.content!['application/json'].examples, {
    insufficient_scope: { value: { detail: 'Missing scope: apikeys:write' } },
  });
  t.strictSame(operationOf('Authentication-Login').security, []);
  t.strictSame(operationOf('Authentication-Refresh').security, [{ refresh_cookie: [] }]);
});

t.test('a client finds in the document alone how to sign in, and every scope it can name', async (t) => {
  const { password } = document.components.securitySchemes!.access_token.flows;
  for (const url of [password.tokenUrl, password.refreshUrl]) t.ok(document.paths[url]!.post, url);
  const scopes = Object.keys(password.scopes);
  t.strictSame(scopes, catalogueOf({ scopes: {} }));
  for (const { operation } of operations)
    for (const scope of operation.security.flatMap(({ access_token = [] }) => access_token))
      t.ok(scopes.includes(scope), `${operation.operationId}: ${scope}`);
});

t.test('refusals stand at their status, with the headers they carry', async (t) => {
  for (const { operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (response.$ref !== undefined) continue;
      const name = `${operation.operationId} ${status}`;
      t.ok(response.headers?.['X-Request-Id'], name);
      t.equal('Retry-After' in response.headers!, status === '429' || status === '503', name);
      if (status === '401') t.ok(response.headers!['WWW-Authenticate'], name);
      for (const [code, { value }] of Object.entries(response.content?.['application/json'].examples ?? {})) {
        t.equal(value.code, code, name);
        t.equal(String(refusals[code as keyof typeof refusals].status), status, name);
      }
    }
    t.match(operation.responses.default!.$ref, /Refusal$/);
  }
});

t.test('sign-in takes a form and its errors are OAuth errors too', async (t) => {
  const { requestBody, responses } = operationOf('Authentication-Login');
  t.strictSame(requestBody!.content, {
    'application/x-www-form-urlencoded': {
      schema: { $ref: '#/components/schemas/Body_Authentication-Login' },
    },
  });
  t.strictSame(responses[401]!.content!['application/json'].schema, {
    $ref: '#/components/schemas/OAuthError',
  });
});

t.test('a merge patch may come as one, or as any JSON', async (t) => {
  const patches = operations.filter(({ method }) => method === 'patch');
  t.not(patches.length, 0);
  for (const { path, operation } of patches) {
    const { 'application/json': json, ...others } = operation.requestBody!.content;
    t.strictSame(others, { 'application/merge-patch+json': json }, path);
  }
});

t.test('the list has every filter as a parameter, with its default', async (t) => {
  const { parameters } = operationOf('ApiKeys-List');
  const names = parameters!.map(({ name }) => name);
  const instants = ['created', 'expires', 'last_used'].flatMap((field) =>
    ['gte', 'gt', 'lte', 'lt'].map((operator) => `${field}__${operator}`),
  );
  t.strictSame(
    names.toSorted(),
    [
      ...['size', 'cursor', 'sort_by', 'sort_order', 'hydrate', 'label__contains', 'label__eq'],
      ...instants,
      ...[
        'expires__isnull',
        'last_used__isnull',
        'scopes__contains',
        'created_by__eq',
        'parent__eq',
        'status__eq',
      ],
    ].sort(),
  );
  const defaults = parameters!.flatMap(({ name, schema }) =>
    schema.default === undefined ? [] : [[name, schema.default]],
  );
  t.strictSame(Object.fromEntries(defaults), {
    size: 50,
    sort_by: 'created',
    sort_order: 'desc',
    hydrate: true,
  });
  t.notOk(parameters!.some(({ required }) => required));
});

t.test('responses may get new members, requests may not', async (t) => {
  const { ApiKeyRead, ApiKeyWriteCreate } = document.components.schemas!;
  t.equal(ApiKeyRead!.additionalProperties, undefined);
  t.equal(ApiKeyWriteCreate!.additionalProperties, false);
  t.strictSame(ApiKeyWriteCreate!.required, ['label', 'scopes']);
});

t.test('every schema can be read as one', async (t) => {
  const definitions = JSON.parse(
    JSON.stringify(document.components.schemas).replaceAll('#/components/schemas/', '#/$defs/'),
  );
  for (const name of Object.keys(definitions))
    t.doesNotThrow(() => z.fromJSONSchema({ $ref: `#/$defs/${name}`, $defs: definitions }), name);
});
