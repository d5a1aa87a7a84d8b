/** Headers that servers which record by their access log are told to write there. */
export const watchedNames: readonly string[] = [
  ...['X-Auth-Subject', 'X-Auth-Username', 'X-Auth-Method', 'X-Auth-Scopes', 'X-Auth-Session-Id'],
  ...['X-Auth-Key-Id', 'X-Auth-Tenant', 'X-Request-Id', 'X-Forwarded-For', 'X-Forwarded-Proto'],
  ...['X-Forwarded-Host', 'X-Real-IP', 'Forwarded', 'Remote-User', 'X-Remote-User', 'Remote-Addr'],
  ...['X-WEBAUTH-USER', 'X-Original-URL', 'X-Original-URI', 'X-Rewrite-URL', 'Script-Name', 'Path-Info'],
  ...['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', 'Proxy', 'Authorization', 'X-API-Key'],
  'X-Row',
];
