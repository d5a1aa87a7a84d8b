/** The longest name of a user, in code points of its NFC form. */
export const maxUsernameCodePoints = 128;

/** The longest password, in bytes of UTF-8 of its NFC form. */
export const maxPasswordBytes = 1024;

/** A scope-token (RFC 6749 §3.3): visible ASCII without `"` and `\`. */
export const scopeToken = /^[!#-[\]-~]+$/;
