const username = 'admin';
const password = 'correct horse battery staple';

/** A `sed` command that extracts one text field of a JSON response: shells have no other tool for it. */
function extract(name: string): string {
  return `sed -n 's/.*"${name}":"\\([^"]*\\)".*/\\1/p'`;
}

/** A heading in the lines. `#` would do in scripts, but an interactive zsh takes it for a command. */
function heading(text: string): string {
  return `: '${text}'`;
}

/**
 * Where to begin in a browser, and shell lines that try every part of the gateway at `url` once, in order; they can be pasted
 * as a whole into sh, bash and zsh. `bootstrapToken` null: there is a user already, and both begin with signing in.
 */
export function quickstartLines(url: string, bootstrapToken: string | null): string[] {
  return printedLines(url, bootstrapToken, [
    ...signingIn(bootstrapToken),
    '',
    heading('Mint an API key, which is shown only this time'),
    'MINTED=$(curl -s $URL/api/admin/api-keys/ -H "Authorization: Bearer $TOKEN" \\',
    `  -H 'Content-Type: application/json' -d '{"label":"first key","scopes":["store:read"]}')`,
    `KEY=$(printf %s "$MINTED" | ${extract('key')})`,
    `ID=$(printf %s "$MINTED" | sed -n 's/^{"id":"\\([^"]*\\)".*/\\1/p')`,
    '',
    heading('Call the service with it: the upstream echoes the request, identity headers included'),
    'curl -s $URL/api/store/asset/1 -H "X-API-Key: $KEY"; echo',
    '',
    heading('List the keys, delete this one, and see it refused with 401'),
    'curl -s $URL/api/admin/api-keys/ -H "Authorization: Bearer $TOKEN"; echo',
    'curl -s -X DELETE $URL/api/admin/api-keys/$ID -H "Authorization: Bearer $TOKEN"',
    'curl -s $URL/api/store/asset/1 -H "X-API-Key: $KEY"; echo',
    '',
    heading('Get a new access token with the cookie, then sign out: the cookie is refused with 401'),
    'curl -s -b $JAR -c $JAR -X POST $URL/api/login/refresh-token; echo',
    'curl -s -b $JAR $URL/api/logout',
    'curl -s -b $JAR -X POST $URL/api/login/refresh-token; echo',
  ]);
}

/** Shell lines for a service that is behind the gateway at `url`; otherwise as {@link quickstartLines}. */
export function tryOutLines(url: string, bootstrapToken: string | null): string[] {
  return printedLines(url, bootstrapToken, [
    ...signingIn(bootstrapToken),
    '',
    heading('Call the service, without a credential (401) and with one'),
    'curl -s $URL/api/; echo',
    'curl -s $URL/api/ -H "Authorization: Bearer $TOKEN"; echo',
  ]);
}

function printedLines(url: string, bootstrapToken: string | null, lines: readonly string[]): string[] {
  // What follows the # is never sent to a server. Both configurations leave web.path as it is.
  const page = bootstrapToken === null ? `${url}/` : `${url}/postern/activate#token=${bootstrapToken}`;
  const indented = [`URL=${url} JAR=$(mktemp)`, ...lines].map((line) => (line === '' ? '' : `  ${line}`));
  return ['', `Open it in a browser: ${page}`, '', 'Or try it in another terminal:', '', ...indented, ''];
}

function signingIn(bootstrapToken: string | null): string[] {
  return [
    ...(bootstrapToken === null ? [] : activation(bootstrapToken)),
    '',
    heading('Sign in: an access token, and a refresh cookie in the jar'),
    `TOKEN=$(curl -s -c $JAR $URL/api/login/access-token -d username=${username} \\`,
    `  --data-urlencode 'password=${password}' | ${extract('access_token')})`,
    `test "$TOKEN" || echo 'Sign-in failed: put your user name and password in the lines above'`,
  ];
}

function activation(token: string): string[] {
  return [
    '',
    heading('Create the first administrator'),
    `curl -s $URL/api/bootstrap/activate -H 'Content-Type: application/json' \\`,
    `  -d '{"token":"${token}","username":"${username}","password":"${password}"}'; echo`,
  ];
}
