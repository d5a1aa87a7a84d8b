import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { uuidv7 } from 'uuidv7';
import { startRoleGateway } from '../support/administration/role-gateway.ts';
import { administrator } from '../support/gateway/gateway.ts';

t.setTimeout(120_000);

/** One line of the corpus. */
interface Trick {
  readonly name: string;
  /** `METHOD target`. */
  readonly send: string;
  readonly body?: string;
  /** Of the body; `application/json` by default, and `""` for none. */
  readonly type?: string;
  /** `If-Match`. */
  readonly match?: string;
  /** The status and the code of the refusal. */
  readonly expect: string;
}

const lists = {
  users: '/api/admin/users/',
  sets: '/api/admin/scope-sets/',
  keys: '/api/admin/api-keys/',
  sessions: '/api/admin/sessions/',
  audit: '/api/admin/audit/',
  'own sessions': '/api/self/sessions/',
};

function loadTricks(): readonly Trick[] {
  const file = join(import.meta.dirname, '../corpora/administration.jsonl');
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => JSON.parse(line));
}

t.test('no trick with a body or a parameter of an administrative call changes anything', async (t) => {
  const gateway = await startRoleGateway(t, {});
  const { api, administer, asAdministrator } = gateway;
  const values = await recordsOf();
  const fill = (text: string) =>
    text
      .replace(/\{\{([^{}]+)\*(\d+)\}\}/g, (_, part, count) => part.repeat(Number(count)))
      .replace(/\{\{([^{}]+)\}\}/g, (_, name) => {
        const value = values.get(name);
        if (value === undefined) throw new Error(`no such placeholder: ${name}`);
        return value;
      });
  const before = await everything();
  const wrong: string[] = [];
  const tricks = loadTricks();
  for (const { name, send, body, type = 'application/json', match, expect } of tricks) {
    const [method = '', target = ''] = fill(send).split(' ');
    const headers = {
      ...(body !== undefined && type !== '' && { 'content-type': type }),
      ...(match !== undefined && { 'if-match': fill(match) }),
    };
    const sent = body === undefined ? {} : { body: fill(body) };
    const { status, json } = await api.send({ method, path: target, headers, ...sent, ...asAdministrator() });
    if (`${status} ${json?.code}` !== expect) wrong.push(`${name}: ${status} ${json?.code}`);
  }
  t.strictSame(wrong, [], `${tricks.length} tricks`);
  t.strictSame(await everything(), before, 'nothing has changed');

  /** Values for the placeholders; each is that of a record that a trick is about. */
  async function recordsOf(): Promise<ReadonlyMap<string, string>> {
    const set = (await administer('POST', lists.sets, 201, { name: 'readers', scopes: ['store:read'] })).json;
    const user = await gateway.create({ scope_sets: [set.id] });
    const other = await gateway.create({ scopes: ['store:read'] });
    const disabled = await gateway.create({ disabled: true });
    const key = await gateway.mintFor(user.id, { scopes: ['store:read'] });
    const session = await gateway.sessionOf(await gateway.signInAs(user.username));
    const found = new Map<string, string>(
      Object.entries({
        set: set.id,
        SET: set.id.toUpperCase(),
        setname: set.name,
        user: user.id,
        USER: user.id.toUpperCase(),
        other: other.id,
        OTHER: other.id.toUpperCase(),
        disabled: disabled.id,
        unknown: uuidv7(),
        key: key.id,
        session,
        administrator: gateway.administratorId,
        password: administrator.password,
        version: '1',
      }),
    );
    return withCursors(found);
  }

  async function withCursors(found: Map<string, string>): Promise<ReadonlyMap<string, string>> {
    for (const [name, path] of Object.entries(lists)) {
      const { json } = await administer('GET', `${path}?size=1`, 200);
      found.set(`cursor of ${name}`, json.current_page);
    }
    return found;
  }

  /** Users, sets, keys and sessions, less what any use changes. */
  async function everything(): Promise<unknown> {
    const { users, sets, keys, sessions } = lists;
    const pages: unknown[] = [];
    for (const path of [users, sets, keys, sessions]) {
      const { items, total } = (await administer('GET', `${path}?size=100`, 200)).json;
      pages.push(
        total,
        items.map(({ last_used: _used, last_login: _login, ...rest }: any) => rest),
      );
    }
    return pages;
  }
});
