/** A table of the records, the same in every database. */
export interface Table {
  readonly name: string;
  /** All columns except generated ones. */
  readonly columns: readonly string[];
  /** Columns of the primary key, which every database orders in the same way: by bytes, or as numbers. */
  readonly key: readonly string[];
  /** Set if the migrations insert rows, which a copy replaces. */
  readonly isSeeded?: true;
}

/** Every table of the records, referenced tables first; without tables for the internal use of one database. */
export const recordsTables: readonly Table[] = [
  {
    name: 'users',
    columns: [
      ...['id', 'username', 'canonical_name', 'display_name', 'email', 'password_hash'],
      ...['scopes', 'disabled', 'created', 'last_login', 'kind', 'updated', 'managed', 'epoch', 'version'],
      'carried_session',
    ],
    key: ['id'],
  },
  {
    name: 'scope_sets',
    columns: ['id', 'name', 'description', 'scopes', 'created', 'updated', 'managed', 'version'],
    key: ['id'],
  },
  { name: 'user_scope_sets', columns: ['user_id', 'set_id'], key: ['user_id', 'set_id'] },
  {
    name: 'identities',
    columns: ['issuer', 'subject', 'user_id', 'made_user', 'scopes', 'grants', 'provider', 'created'],
    key: ['issuer', 'subject'],
  },
  {
    name: 'identity_scope_sets',
    columns: ['issuer', 'subject', 'set_id'],
    key: ['issuer', 'subject', 'set_id'],
  },
  {
    name: 'api_keys',
    columns: [
      ...['id', 'hash', 'hash_format', 'label', 'hint', 'scopes', 'created', 'created_by'],
      ...['parent', 'session', 'origin', 'expires', 'last_used', 'version'],
    ],
    key: ['id'],
  },
  // A trigger fills it when the keys are copied.
  { name: 'api_key_prefixes', columns: ['prefix'], key: ['prefix'], isSeeded: true },
  { name: 'api_key_scope_sets', columns: ['key_id', 'set_id'], key: ['key_id', 'set_id'] },
  { name: 'removed_api_keys', columns: ['id', 'parent'], key: ['id'] },
  {
    name: 'signing_keys',
    columns: [
      ...['kid', 'purpose', 'algorithm', 'private_jwk', 'created', 'signs_from', 'retired', 'requested'],
      'lifetime',
    ],
    key: ['kid'],
  },
  { name: 'secrets', columns: ['name', 'value'], key: ['name'] },
  { name: 'command_events', columns: ['id', 'entry'], key: ['id'] },
  { name: 'tenant_epoch', columns: ['id', 'epoch'], key: ['id'], isSeeded: true },
  { name: 'invitations', columns: ['user_id', 'hash', 'maker', 'created', 'expires'], key: ['user_id'] },
  {
    name: 'audit',
    columns: [
      ...['seq', 'id', 'time', 'event', 'outcome', 'actor_kind', 'actor_user', 'actor_credential'],
      ...['target_type', 'target_id', 'address', 'request_id', 'is_probe', 'body'],
    ],
    key: ['seq'],
  },
  { name: 'audit_state', columns: ['id', 'seq', 'time', 'dropped'], key: ['id'], isSeeded: true },
  { name: 'applied_configurations', columns: ['digest', 'number', 'applied'], key: ['digest'] },
  { name: 'configured_passwords', columns: ['user_id', 'digest'], key: ['user_id'] },
  { name: 'bootstrap', columns: ['id', 'open', 'token'], key: ['id'], isSeeded: true },
];
