import { uuidv7 } from 'uuidv7';
import type { Caller } from './role-callers.ts';
import type { RoleGateway } from './role-gateway.ts';

/** What a call is about: a value for each of its placeholders. */
export type Values = Readonly<Record<string, string>>;

/** A record as it was made. */
interface Made {
  readonly values: Values;
  /** Paths under which it is read, and what was read there. */
  readonly seen: ReadonlyMap<string, unknown>;
}

/** Users by the column that they stand for. */
const usersOf: Readonly<Record<string, object>> = {
  another: { scopes: ['store:read'] },
  more: { scopes: ['store:read', 'store:write'] },
  managed: { scopes: ['store:read'] },
};

/** Makes the records that calls are about, and finds out whether one that was not to change has changed. */
export class RoleRecords {
  readonly #gateway: RoleGateway;
  readonly #made = new Map<string, Made>();

  constructor(gateway: RoleGateway) {
    this.#gateway = gateway;
  }

  /** Values for the placeholders; of a record that was made before, unless {@link consume} was told of it. */
  async values(column: string, placeholders: ReadonlySet<string>, caller: Caller): Promise<Values> {
    const name = nameOf(column, placeholders, caller);
    let made = this.#made.get(name);
    if (made === undefined) {
      const values = await this.#make(column, placeholders, caller);
      made = { values, seen: await this.#see(column, values) };
      this.#made.set(name, made);
    }
    return made.values;
  }

  /** A call has been successful, which may have changed it. */
  consume(column: string, placeholders: ReadonlySet<string>, caller: Caller): void {
    this.#made.delete(nameOf(column, placeholders, caller));
  }

  /** Nothing that was made is used again. */
  forget(): void {
    this.#made.clear();
  }

  /** Paths of records that are not what they were when they were made. */
  async changed(): Promise<readonly string[]> {
    const changed: string[] = [];
    for (const { seen } of this.#made.values())
      for (const [path, was] of seen)
        if (JSON.stringify(await this.#read(path)) !== JSON.stringify(was)) changed.push(path);
    return changed;
  }

  async #see(column: string, values: Values): Promise<ReadonlyMap<string, unknown>> {
    const { user, key, session, set } = values;
    const paths = [
      user && `/api/admin/users/${user}`,
      key && `/api/admin/api-keys/${key}`,
      session && `/api/admin/sessions/${session}`,
      set && `/api/admin/scope-sets/${set}`,
    ].filter((path) => path !== undefined && path !== '');
    const seen = new Map<string, unknown>();
    if (column !== 'none')
      for (const path of paths) seen.set(path as string, await this.#read(path as string));
    return seen;
  }

  /** What the administrator reads there, less what any use changes. */
  async #read(path: string): Promise<unknown> {
    const { status, json } = await this.#gateway.api.send({ path, ...this.#gateway.asAdministrator() });
    const { last_used: _used, last_login: _login, ...rest } = json;
    return { status, ...rest };
  }

  async #make(column: string, placeholders: ReadonlySet<string>, caller: Caller): Promise<Values> {
    const values: Record<string, string> = {};
    const isOwn = column === 'own';
    const needsUser = [...placeholders].some((name) => name !== 'set' && name !== 'operators');
    const user =
      needsUser && column in usersOf ? await this.#gateway.create(usersOf[column] as object) : null;
    const userId = isOwn ? caller.userId : (user?.id ?? uuidv7());
    if (userId !== null) values.user = userId;
    for (const name of placeholders)
      if (name !== 'user') values[name] = await this.#value(name, column, caller, user, userId ?? '');
    if (column === 'managed' && user !== null) await this.#gateway.manage('users', user.id);
    return Object.fromEntries(Object.entries(values).filter(([name]) => placeholders.has(name)));
  }

  async #value(name: string, column: string, caller: Caller, user: any, userId: string): Promise<string> {
    const gateway = this.#gateway;
    const isOwn = column === 'own';
    if (name === 'operators') return gateway.operators;
    if (name === 'leaver') return (await gateway.create(usersOf.another as object)).id;
    if (name === 'set') return this.#set(column, caller);
    if (column === 'none') return uuidv7();
    if (name === 'key') return (isOwn && caller.keyId) || this.#key(isOwn ? caller : null, userId);
    if (name === 'session') return (isOwn && caller.sessionId) || this.#session(isOwn, user, userId);
    if (name === 'subject') return (isOwn && caller.subject) || this.#identity(userId);
    if (name === 'event') return this.#event(userId);
    throw new Error(`no such placeholder: ${name}`);
  }

  /** What a provider grants can be minted only by whom it is granted to. */
  async #key(owner: Caller | null, userId: string): Promise<string> {
    const body = { label: 'a key', scopes: ['store:read'] };
    const { bearer } = owner?.credential ?? {};
    const minted =
      owner?.subject !== undefined && bearer !== undefined
        ? await this.#gateway.api.mintKey(bearer, body)
        : await this.#gateway.mintFor(userId, body);
    return minted.id;
  }

  async #set(column: string, { userId }: Caller): Promise<string> {
    const gateway = this.#gateway;
    if (column === 'none') return uuidv7();
    if (column === 'built-in') return 'administrator';
    const scopes = column === 'more' ? ['store:read', 'store:write'] : ['store:read'];
    const { json } = await gateway.administer('POST', '/api/admin/scope-sets/', 201, {
      name: gateway.newName(),
      scopes,
    });
    if (column === 'managed') await gateway.manage('scope_sets', json.id);
    if (column === 'own' && userId !== gateway.administratorId) {
      const path = `/api/admin/users/${userId}`;
      const { scope_sets: held } = (await gateway.administer('GET', path, 200)).json;
      await gateway.administer('PATCH', path, 200, { scope_sets: [...held, json.id] });
    }
    return json.id;
  }

  async #session(isOwn: boolean, user: any, userId: string): Promise<string> {
    const gateway = this.#gateway;
    const path = `/api/admin/users/${userId}`;
    const username = isOwn ? (await gateway.administer('GET', path, 200)).json.username : user.username;
    if (userId === gateway.administratorId) return gateway.sessionOf(gateway.asAdministrator().bearer);
    return gateway.sessionOf(await gateway.signInAs(username));
  }

  async #identity(userId: string): Promise<string> {
    const subject = this.#gateway.newName();
    const identity = { provider: 'idp', subject };
    await this.#gateway.administer('POST', `/api/admin/users/${userId}/identities`, 201, identity);
    return subject;
  }

  /** That the user was made. */
  async #event(userId: string): Promise<string> {
    const path = `/api/admin/audit/?sort_order=asc&size=1&target__eq=${userId}`;
    return (await this.#gateway.administer('GET', path, 200)).json.items[0].id;
  }
}

/** Only what is somebody's own differs from caller to caller. */
function nameOf(column: string, placeholders: ReadonlySet<string>, { userId, keyId }: Caller): string {
  const whose = column === 'own' ? `${userId} ${keyId}` : '';
  return [column, whose, ...placeholders].join(' ');
}
