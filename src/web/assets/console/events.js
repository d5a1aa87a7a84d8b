/** Words for the events of the audit. */

/** @type {Readonly<Record<string, string>>} */
export const eventWords = {
  activation_failed: 'Activation failed',
  all_sessions_ended: 'All sessions ended',
  api_key_created: 'API key created',
  api_key_deleted: 'API key deleted',
  api_key_refused: 'New API key refused',
  api_key_transferred: 'API key given to another user',
  bootstrap_token_reset: 'Activation opened again',
  configuration_superseded: 'Configuration superseded',
  identity_linked: 'Account linked',
  identity_unlinked: 'Account unlinked',
  invitation_created: 'Invited',
  invitation_failed: 'Invitation refused',
  invitation_redeemed: 'Invitation accepted',
  login_failed: 'Sign-in failed',
  login_succeeded: 'Signed in',
  password_changed: 'Password changed',
  records_copied: 'Records copied',
  refresh_token_reused: 'Old refresh cookie used',
  request_refused: 'Request refused',
  scope_set_changed: 'Scope set changed',
  scope_set_created: 'Scope set created',
  scope_set_removed: 'Scope set removed',
  session_revoked: 'Session ended',
  sessions_ended: 'Signed out everywhere',
  signing_key_requested: 'New signing key requested',
  signing_key_revoked: 'Signing key revoked',
  signing_key_rotated: 'Signing key rotated',
  throttle_lifted: 'Failed sign-ins reset',
  user_changed: 'User changed',
  user_created: 'User created',
  user_disabled: 'User disabled',
  user_enabled: 'User enabled',
  user_removed: 'User removed',
};

/** The words for an event; its code, as words, for one of another release. @param {string} event */
export const wordsOf = (event) => eventWords[event] ?? spoken(event);

/**
 * The words for an actor who is no user. No one else makes a user without a credential.
 * @param {string} kind @param {string} event
 */
export const actorWords = (kind, event) =>
  kind === 'anonymous' && event === 'user_created' ? 'bootstrap token' : spoken(kind);

/** A name of the API as words. @param {string} name */
export const spoken = (name) => name.replaceAll('_', ' ');
