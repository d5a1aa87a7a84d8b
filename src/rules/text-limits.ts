/** The maximum length of a user name, in code points of its NFC form. */
export const maxUsernameCodePoints = 128;

/** The maximum length of a password, in UTF-8 bytes of its NFC form. */
export const maxPasswordBytes = 1024;

/** Matches a scope-token (RFC 6749 §3.3): visible ASCII without `"` and `\`. */
export const scopeToken = /^[!#-[\]-~]+$/;
