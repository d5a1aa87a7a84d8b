const username = 'admin';
const password = 'correct horse battery staple';

/** The `sed` that takes one text field out of a JSON answer: no more tools than a shell has. */
function field(name: string): string {
  return `sed -n 's/.*"${name}":"\\([^"]*\\)".*/\\1/p'`;
}

/**
 * Shell lines that try every part of the gateway at `url` once, in order; they can be pasted as a whole.
 * `bootstrapToken` null: somebody is activated already, and the lines begin with signing in.
 */
export function quickstartLines(url: string, bootstrapToken: string | null): string[] {
  return [
    '',
    'Try it in another terminal:',
    '',
    `  URL=${url} JAR=$(mktemp)`,
    ...(bootstrapToken === null ? [] : activation(bootstrapToken)),
    '',
    '  # Sign in: an access token, and a refresh cookie in the jar',
    `  TOKEN=$(curl -s -c $JAR $URL/api/login/access-token -d username=${username} \\`,
    `    --data-urlencode 'password=${password}' | ${field('access_token')})`,
    '',
    '  # Mint an API key; it is shown this once',
    '  MINTED=$(curl -s $URL/api/admin/api-keys/ -H "Authorization: Bearer $TOKEN" \\',
    `    -H 'Content-Type: application/json' -d '{"label":"first key","scopes":["store:read"]}')`,
    `  KEY=$(echo "$MINTED" | ${field('key')})`,
    `  ID=$(echo "$MINTED" | sed -n 's/^{"id":"\\([^"]*\\)".*/\\1/p')`,
    '',
    '  # Call the service with it: the upstream echoes what it was sent, identity headers included',
    '  curl -s $URL/api/store/asset/1 -H "X-API-Key: $KEY"; echo',
    '',
    '  # List the keys, delete this one, and see it refused (401)',
    '  curl -s $URL/api/admin/api-keys/ -H "Authorization: Bearer $TOKEN"; echo',
    '  curl -s -X DELETE $URL/api/admin/api-keys/$ID -H "Authorization: Bearer $TOKEN"',
    '  curl -s $URL/api/store/asset/1 -H "X-API-Key: $KEY"; echo',
    '',
    '  # A new access token by the cookie, then sign out: the cookie is refused (401)',
    '  curl -s -b $JAR -c $JAR -X POST $URL/api/login/refresh-token; echo',
    '  curl -s -b $JAR $URL/api/logout',
    '  curl -s -b $JAR -X POST $URL/api/login/refresh-token; echo',
    '',
  ];
}

function activation(token: string): string[] {
  return [
    '',
    '  # Make the first administrator',
    `  curl -s $URL/api/bootstrap/activate -H 'Content-Type: application/json' \\`,
    `    -d '{"token":"${token}","username":"${username}","password":"${password}"}'; echo`,
  ];
}
