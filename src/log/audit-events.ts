/** Documented properties of an event; docs/audit.md has the same table. */
export interface AuditEventKind {
  /** Type of `target`; null: the event has none. */
  readonly target: AuditTarget['type'] | null;
  readonly changes: readonly (keyof AuditChanges)[];
  readonly kept: AuditKeeping;
}

/**
 * The way an event gets into the records: `with_change`, in the transaction of the change, which fails without it; `afterwards`,
 * asynchronously, so that revoking access never waits; `counted`, as one of many refusals.
 */
export type AuditKeeping = 'with_change' | 'afterwards' | 'counted';

/** The object that an event is about. */
export interface AuditTarget {
  readonly type: 'user' | 'scope_set' | 'api_key' | 'session' | 'signing_key' | 'configuration';
  readonly id: string;
  /** Label of an API key, which tells a deleted key from others. */
  readonly label?: string | undefined;
}

/** A change in an audit entry: added and removed scopes, and only the names of other fields. */
export interface AuditChanges {
  readonly fields?: readonly string[];
  readonly scopes?: { readonly added: readonly string[]; readonly removed: readonly string[] };
  /** Ids of scope sets. */
  readonly scope_sets?: { readonly added: readonly string[]; readonly removed: readonly string[] };
}

const held = ['scopes', 'scope_sets'] as const;
const everything = ['fields', ...held] as const;

const table = {
  user_created: { target: 'user', changes: everything, kept: 'with_change' },
  user_changed: { target: 'user', changes: everything, kept: 'with_change' },
  user_removed: { target: 'user', changes: everything, kept: 'with_change' },
  user_disabled: { target: 'user', changes: [], kept: 'with_change' },
  user_enabled: { target: 'user', changes: [], kept: 'with_change' },
  password_changed: { target: 'user', changes: [], kept: 'with_change' },
  identity_linked: { target: 'user', changes: ['fields'], kept: 'with_change' },
  identity_unlinked: { target: 'user', changes: ['fields'], kept: 'with_change' },
  sessions_ended: { target: 'user', changes: [], kept: 'with_change' },
  all_sessions_ended: { target: null, changes: [], kept: 'with_change' },
  throttle_lifted: { target: 'user', changes: [], kept: 'with_change' },
  invitation_created: { target: 'user', changes: [], kept: 'with_change' },
  invitation_redeemed: { target: 'user', changes: ['fields'], kept: 'with_change' },
  bootstrap_token_reset: { target: null, changes: [], kept: 'with_change' },
  records_copied: { target: null, changes: [], kept: 'with_change' },
  scope_set_created: { target: 'scope_set', changes: ['fields', 'scopes'], kept: 'with_change' },
  scope_set_changed: { target: 'scope_set', changes: ['fields', 'scopes'], kept: 'with_change' },
  scope_set_removed: { target: 'scope_set', changes: ['fields', 'scopes'], kept: 'with_change' },
  api_key_created: { target: 'api_key', changes: held, kept: 'with_change' },
  api_key_deleted: { target: 'api_key', changes: [], kept: 'with_change' },
  api_key_transferred: { target: 'api_key', changes: ['fields'], kept: 'with_change' },
  configuration_superseded: { target: 'configuration', changes: [], kept: 'with_change' },
  signing_key_rotated: { target: 'signing_key', changes: [], kept: 'with_change' },
  signing_key_requested: { target: 'signing_key', changes: [], kept: 'with_change' },
  signing_key_revoked: { target: 'signing_key', changes: [], kept: 'with_change' },
  login_succeeded: { target: 'session', changes: [], kept: 'with_change' },
  session_revoked: { target: 'session', changes: [], kept: 'afterwards' },
  refresh_token_reused: { target: 'session', changes: [], kept: 'afterwards' },
  login_failed: { target: null, changes: [], kept: 'counted' },
  activation_failed: { target: null, changes: [], kept: 'counted' },
  invitation_failed: { target: null, changes: [], kept: 'counted' },
  api_key_refused: { target: null, changes: [], kept: 'counted' },
  request_refused: { target: null, changes: [], kept: 'counted' },
} as const satisfies Record<string, AuditEventKind>;

/** The name of an event. */
export type AuditEventName = keyof typeof table;

/** The events that are not part of a transaction of the records. */
export type UnrecordedAuditEvent = {
  [Name in AuditEventName]: (typeof table)[Name]['kept'] extends 'with_change' ? never : Name;
}[AuditEventName];

/** All events by name. */
export const auditEvents: Readonly<Record<AuditEventName, AuditEventKind>> = table;
