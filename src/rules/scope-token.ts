/** A scope-token (RFC 6749 §3.3): visible ASCII without `"` and `\`. */
export const scopeToken = /^[!#-[\]-~]+$/;
