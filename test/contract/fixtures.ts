import { createHash } from 'node:crypto';
import type { ApiKey } from '../../src/stores/api-key.ts';
import type { NewSession, SessionTimes } from '../../src/stores/sessions.ts';
import type { User } from '../../src/stores/user.ts';

/** The instant at which the clocks of these tests start. */
export const startOfTime = Date.UTC(2026, 10, 21);

/** Lifetimes of sessions in these tests. */
export const sessionTimes: SessionTimes = {
  idleLifetimeMs: 100_000,
  absoluteLifetimeMs: 500_000,
  reuseGraceMs: 10_000,
};

/** A new session of a user. */
export function newSession(id: string, userId = 'user-1'): NewSession {
  return { id, userId, method: 'password', scope: null, address: '192.0.2.1', userAgent: 'test', epoch: 7 };
}

/** A user named like the id, as it is read once it is stored. */
export function newUser(id: string, changes: Partial<User> = {}): User {
  return {
    id,
    kind: 'person',
    username: id.toUpperCase(),
    displayName: null,
    email: null,
    passwordHash: null,
    scopes: [],
    scopeSets: [],
    disabled: false,
    managed: false,
    created: startOfTime,
    updated: startOfTime,
    lastLogin: null,
    epoch: 0,
    carriedSession: null,
    version: 1,
    ...changes,
  };
}

/** An administrator who can sign in, and so closes the bootstrap. */
export function newAdministrator(id: string, changes: Partial<User> = {}): User {
  const passwordHash = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaA';
  return newUser(id, { passwordHash, scopeSets: ['administrator'], ...changes });
}

/** A key of the user `owner`. */
export function newKey(id: string, changes: Partial<ApiKey> = {}): ApiKey {
  return {
    id,
    label: `label of ${id}`,
    hint: 'pst_abcd',
    scopes: ['store:read'],
    scopeSets: [],
    created: startOfTime,
    createdBy: 'owner',
    parent: null,
    session: null,
    origin: null,
    expires: null,
    lastUsed: null,
    ...changes,
  };
}

/** The hash under which {@link newKey} is stored. */
export function hashOf(id: string): Uint8Array {
  return createHash('sha256').update(id).digest();
}

/** What a command audits, without an event. */
export const auditDraft = {
  outcome: 'success',
  actor: { user: null, kind: 'command_line' },
  subject: null,
  target: null,
  address: null,
  requestId: null,
} as const;
