import { accessScope } from '../setup/configuration-text.ts';

const username = 'admin';

/** Addresses of a gateway. */
export interface GatewayUrls {
  /** Its origin. */
  readonly url: string;
  /** Path of its API. */
  readonly api: string;
  /** Paths of the pages to sign in and to create the first administrator; null if there are no pages. */
  readonly pages: { readonly start: string; readonly activation: string } | null;
}

/** Credentials filled into the lines: the activation token, null once activation is closed, and a random password. */
interface FirstCredentials {
  readonly bootstrapToken: string | null;
  /** Made of characters that need no quoting in a shell. */
  readonly password: string;
}

/** A `sed` command that extracts one text field of a JSON response: shells have no other tool for it. */
function extract(name: string): string {
  return `sed -n 's/.*"${name}":"\\([^"]*\\)".*/\\1/p'`;
}

/** A heading in the lines, as an argument of `:`, because an interactive zsh takes a `#` for a command. */
function heading(text: string): string {
  return `: '${text}'`;
}

/**
 * The address to begin with in a browser, and shell lines that try every part of the gateway once, in order. They can be pasted
 * as a whole into sh, bash and zsh. Once activation is closed, both begin with signing in.
 */
export function quickstartLines(urls: GatewayUrls, credentials: FirstCredentials): string[] {
  const { api } = urls;
  return printedLines(urls, credentials, [
    ...signingIn(api, credentials),
    '',
    heading('Mint an API key, which is shown only this time'),
    `MINTED=$(curl -s $URL${api}/admin/api-keys/ -H "Authorization: Bearer $TOKEN" \\`,
    `  -H 'Content-Type: application/json' -d '{"label":"first key","scopes":["store:read"]}')`,
    `KEY=$(printf %s "$MINTED" | ${extract('key')})`,
    `ID=$(printf %s "$MINTED" | sed -n 's/^{"id":"\\([^"]*\\)".*/\\1/p')`,
    '',
    heading('Call the service with it: the upstream echoes the request, identity headers included'),
    'curl -s $URL/api/store/asset/1 -H "X-API-Key: $KEY"; echo',
    '',
    heading('List the keys, delete this one, and see it refused with 401'),
    `curl -s $URL${api}/admin/api-keys/ -H "Authorization: Bearer $TOKEN"; echo`,
    `curl -s -X DELETE $URL${api}/admin/api-keys/$ID -H "Authorization: Bearer $TOKEN"`,
    'curl -s $URL/api/store/asset/1 -H "X-API-Key: $KEY"; echo',
    '',
    heading('Get a new access token with the cookie, then sign out: the cookie is refused with 401'),
    `curl -s -b $JAR -c $JAR -X POST $URL${api}/login/refresh-token; echo`,
    `curl -s -b $JAR $URL${api}/logout`,
    `curl -s -b $JAR -X POST $URL${api}/login/refresh-token; echo`,
  ]);
}

/**
 * Like {@link quickstartLines}, but with shell lines for a service behind the gateway, and how to keep the trial. `postern` is
 * the command as a person types it.
 */
export function trialLines(urls: GatewayUrls, credentials: FirstCredentials, postern: string): string[] {
  const { api } = urls;
  const { bootstrapToken: token, password } = credentials;
  const variables =
    token === null
      ? `NAME='your user name' PASSWORD='your password'`
      : `NAME=${username} PASSWORD=${password}`;
  const lines = [
    `URL=${urls.url}`,
    variables,
    ...(token === null ? [] : activation(api, token, `'"$NAME"'`)),
    '',
    heading('Sign in'),
    `TOKEN=$(curl -s $URL${api}/login/access-token --data-urlencode "username=$NAME" \\`,
    `  --data-urlencode "password=$PASSWORD" | ${extract('access_token')})`,
    `test "$TOKEN" || echo 'Sign-in failed: put your user name and password in the lines above'`,
    '',
    heading('Mint an API key for the service, which is shown only this time'),
    `KEY=$(curl -s $URL${api}/admin/api-keys/ -H "Authorization: Bearer $TOKEN" \\`,
    `  -H 'Content-Type: application/json' -d '{"label":"first key","scopes":["${accessScope}"]}' | ${extract('key')})`,
    'echo "The key: $KEY"',
    '',
    heading('Call the service without the key, which is 401, and with it'),
    'curl -s $URL/; echo',
    'curl -s $URL/ -H "X-API-Key: $KEY"; echo',
  ];
  return withPage(urls, token, lines, [
    `Commands in this folder work on this trial: ${postern} user list`,
    `To keep it, with its users and keys: ${postern} init`,
    '',
  ]);
}

/** The address of the form for the first administrator, with the token filled in; undefined if there is no such form. */
export function activationAddress(
  { url, pages }: GatewayUrls,
  bootstrapToken: string | null,
): string | undefined {
  if (pages === null || bootstrapToken === null) return undefined;
  // A fragment is never sent to a server.
  return `${url}${pages.activation}#token=${bootstrapToken}`;
}

function printedLines(
  urls: GatewayUrls,
  { bootstrapToken, password }: FirstCredentials,
  lines: readonly string[],
): string[] {
  return withPage(urls, bootstrapToken, [
    `URL=${urls.url} JAR=$(mktemp)`,
    // Random: everyone would know a password from a document.
    bootstrapToken === null ? `PASSWORD='the password of ${username}'` : `PASSWORD=${password}`,
    ...lines,
  ]);
}

/** Shell lines, indented, and last, where a terminal still shows it, the address of the page to begin with if there are pages. */
function withPage(
  urls: GatewayUrls,
  bootstrapToken: string | null,
  lines: readonly string[],
  more: readonly string[] = [],
): string[] {
  const { url, pages } = urls;
  const indented = lines.map((line) => (line === '' ? '' : `  ${line}`));
  if (pages === null) return ['', 'Try it in another terminal:', '', ...indented, ''];
  const page = activationAddress(urls, bootstrapToken) ?? `${url}${pages.start}`;
  return ['', 'For another terminal:', '', ...indented, '', ...more, `Open it in a browser: ${page}`, ''];
}

function signingIn(api: string, { bootstrapToken }: FirstCredentials): string[] {
  return [
    ...(bootstrapToken === null ? [] : activation(api, bootstrapToken)),
    '',
    heading('Sign in: an access token, and a refresh cookie in the jar'),
    `TOKEN=$(curl -s -c $JAR $URL${api}/login/access-token -d username=${username} \\`,
    `  --data-urlencode "password=$PASSWORD" | ${extract('access_token')})`,
    `test "$TOKEN" || echo 'Sign-in failed: put your user name and password in the lines above'`,
  ];
}

function activation(api: string, token: string, name = username): string[] {
  return [
    '',
    heading('Create the first administrator'),
    `curl -s $URL${api}/bootstrap/activate -H 'Content-Type: application/json' \\`,
    `  -d '{"token":"${token}","username":"${name}","password":"'"$PASSWORD"'"}'; echo`,
  ];
}
