/** The member of `events` in a logout token. */
export const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/** The header of a good logout token. */
export const logoutHeader = { alg: 'ES256', typ: 'logout+jwt', kid: 'e1' };

/** What a good logout token has beside the claims of an ID token. */
export const logoutClaims = { jti: 'logout-1', sid: 'there', events: { [logoutEvent]: {} } };
