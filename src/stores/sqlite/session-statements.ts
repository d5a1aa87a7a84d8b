import type { Database } from 'better-sqlite3';
import type { RotationState } from '../session-rotation.ts';
import type { ProviderIdentity, Session, SessionTimes } from '../sessions.ts';

/** A row of `sessions`. */
export interface SessionRow extends Omit<Session, 'provider'>, RotationState {
  /** The {@link ProviderIdentity}, in three columns; all null if the session has none. */
  readonly providerIssuer: string | null;
  readonly providerSubject: string | null;
  readonly providerSid: string | null;
}

/** The columns of a session that a request needs. */
export interface LiveRow
  extends Pick<
    SessionRow,
    'id' | 'userId' | 'method' | 'expires' | 'epoch' | 'providerIssuer' | 'providerSubject' | 'sealedClaims'
  > {
  /** 1 if the sign-in asked for a scope, otherwise 0. */
  readonly isRestricted: number;
}

/** A deleted session; it was alive if `expires` (epoch ms) had not passed. */
export type EndedRow = Pick<Session, 'id' | 'expires'>;

/** The prepared statements of the session store. */
export type SessionStatements = ReturnType<typeof prepareSessionStatements>;

/** The columns of {@link SessionRow} in SQL, under the names of its fields. */
export const sessionColumns = `id, user_id AS userId, method, scope, address, user_agent AS userAgent, created,
  last_used AS lastUsed, expires, generation, epoch, issued, presented, provider_issuer AS providerIssuer,
  provider_subject AS providerSubject, provider_sid AS providerSid, id_token AS sealedIdToken, claims AS sealedClaims,
  CASE WHEN previous_of = generation THEN previous ELSE generation - 1 END AS previous`;

/** Prepares the statements, once for each connection. */
export function prepareSessionStatements(db: Database) {
  return {
    byId: db.prepare<[id: string], SessionRow>(`SELECT ${sessionColumns} FROM sessions WHERE id = ?`),
    liveById: db.prepare<
      [id: string],
      LiveRow
    >(`SELECT id, user_id AS userId, method, expires, epoch, scope IS NOT NULL AS isRestricted,
      provider_issuer AS providerIssuer, provider_subject AS providerSubject, claims AS sealedClaims
      FROM sessions WHERE id = ?`),
    idsByProviderSid: idsBy(db, 'provider_sid'),
    idsByProviderSubject: idsBy(db, 'provider_subject'),
    insert: db.prepare<
      [SessionRow]
    >(`INSERT INTO sessions (id, user_id, method, scope, address, user_agent, created, last_used, expires,
        generation, epoch, issued, presented, previous, previous_of, provider_issuer, provider_subject, provider_sid,
        id_token, claims)
      VALUES (@id, @userId, @method, @scope, @address, @userAgent, @created, @lastUsed, @expires,
        @generation, @epoch, @issued, @presented, @previous, @generation, @providerIssuer, @providerSubject, @providerSid,
        @sealedIdToken, @sealedClaims)`),
    update: db.prepare<
      [SessionRow]
    >(`UPDATE sessions SET last_used = @lastUsed, expires = @expires, generation = @generation,
      issued = @issued, presented = @presented, previous = @previous, previous_of = @generation WHERE id = @id`),
    /** Records a use at `at` and postpones the expiry, unless the session has expired or was used later; instants in epoch ms. */
    noteUse: db.prepare<
      [
        Omit<SessionTimes, 'reuseGraceMs'> & {
          readonly id: string;
          readonly at: number;
          readonly now: number;
        },
      ]
    >(`UPDATE sessions
      SET last_used = @at, expires = min(@at + @idleLifetimeMs, created + @absoluteLifetimeMs)
      WHERE id = @id AND expires > @now AND last_used < @at`),
    remove: db.prepare<[id: string], SessionRow>(
      `DELETE FROM sessions WHERE id = ? RETURNING ${sessionColumns}`,
    ),
    removeOfUser: db.prepare<[userId: string, exceptId: string | null], EndedRow>(
      'DELETE FROM sessions WHERE user_id = ? AND id IS NOT ? RETURNING id, expires',
    ),
    /** Deletes all live sessions of a user except `exceptId` and the `kept` others that were used last. */
    removeExcess: db.prepare<[userId: string, now: number, exceptId: string, kept: number], SessionRow>(
      `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions
          WHERE user_id = ? AND expires > ? AND id <> ? ORDER BY +last_used DESC, id DESC LIMIT -1 OFFSET ?)
        RETURNING ${sessionColumns}`,
    ),
    removeSome: db.prepare<[limit: number], EndedRow>(
      'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions LIMIT ?) RETURNING id, expires',
    ),
    countLive: db.prepare<[now: number], number>('SELECT count(*) FROM sessions WHERE expires > ?').pluck(),
    removeExpired: db.prepare<[now: number, limit: number]>(
      'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires <= ? LIMIT ?)',
    ),
  };
}

function idsBy(db: Database, column: string) {
  const sql = `SELECT id FROM sessions WHERE ${column} = ? AND provider_issuer = ?`;
  return db.prepare<[value: string, issuer: string], string>(sql).pluck();
}
