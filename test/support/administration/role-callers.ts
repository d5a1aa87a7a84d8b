import { subjectOf } from '../gateway/provider-gateway.ts';
import type { Credential } from './key-administration.ts';
import { operating, type RoleGateway, reading, writing } from './role-gateway.ts';

/** Somebody who makes calls, and what is the caller's own. */
export interface Caller {
  readonly credential: Credential;
  /** Null: of a user who has been removed. */
  readonly userId: string | null;
  /** The subject at the provider, of a user who comes from there. */
  readonly subject?: string;
  /** The session that is presented. */
  readonly sessionId?: string;
  /** The key that is presented. */
  readonly keyId?: string;
}

/** Makes each caller of the table, with a user of its own. */
export const callerMakers: Readonly<Record<string, (gateway: RoleGateway) => Promise<Caller>>> = {
  nothing: async ({ administratorId: userId }) => ({ credential: {}, userId }),
  both: async (gateway) => {
    const { credential, ...rest } = await keyOf(gateway, reading);
    return { ...rest, credential: { ...credential, bearer: gateway.asAdministrator().bearer } };
  },
  'plain user': (gateway) => session(gateway, { scopes: ['store:read'] }),
  'read scope': (gateway) => session(gateway, { scopes: reading }),
  'write scope': (gateway) => session(gateway, { scopes: writing }),
  administrator: (gateway) => session(gateway, { scope_sets: ['administrator'] }),
  'narrowed session': (gateway) => session(gateway, { scope_sets: ['administrator'] }, writing.join(' ')),
  'scopes of a provider': async (gateway) => {
    const subject = gateway.newName();
    const response = await gateway.signInByProvider(subject);
    const bearer = response.json.access_token;
    return {
      credential: { bearer },
      userId: subjectOf(response),
      subject,
      sessionId: await gateway.sessionOf(bearer),
    };
  },
  'key: read': (gateway) => keyOf(gateway, reading),
  'key: write': (gateway) => keyOf(gateway, writing),
  'key: through a set': (gateway) => keyOf(gateway, [], [gateway.operators]),
  'key: of a service': async (gateway) => {
    const { id } = await gateway.create({ kind: 'service', password: null, scopes: operating });
    return mintedFor(gateway, id, { scopes: operating });
  },
  'key: of a removed user': async (gateway) => {
    const { id } = await gateway.create({ scopes: operating });
    const caller = await mintedFor(gateway, id, { scopes: operating });
    await gateway.administer('DELETE', `/api/admin/users/${id}?keys=keep`, 204);
    return { ...caller, userId: null };
  },
  'key: expired': async (gateway) => {
    const { id } = await gateway.create({ scopes: operating });
    const expires = new Date(Date.now() + 1000).toISOString();
    const caller = await mintedFor(gateway, id, { scopes: operating, expires });
    await gateway.untilRefused(caller.credential);
    return caller;
  },
};

async function session(gateway: RoleGateway, user: object, scope?: string): Promise<Caller> {
  const { id, username } = await gateway.create(user);
  const bearer = await gateway.signInAs(username, scope);
  return { credential: { bearer }, userId: id, sessionId: await gateway.sessionOf(bearer) };
}

/** Of a user who holds all that operators do, by the set of that name. */
async function keyOf(
  gateway: RoleGateway,
  scopes: readonly string[],
  sets: readonly string[] = [],
): Promise<Caller> {
  const { id } = await gateway.create({ scope_sets: [gateway.operators] });
  return mintedFor(gateway, id, { scopes, scope_sets: sets });
}

async function mintedFor(gateway: RoleGateway, userId: string, body: object): Promise<Caller> {
  const { id, key } = await gateway.mintFor(userId, body);
  return { credential: { apiKey: key }, userId, keyId: id };
}
