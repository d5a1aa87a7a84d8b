import {
  type AuthorizationServer,
  allowInsecureRequests,
  type Client,
  ClientSecretPost,
  genericTokenEndpointRequest,
  None,
  OperationProcessingError,
  processGenericTokenEndpointResponse,
  ResponseBodyError,
  type TokenEndpointResponse,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import t from 'tap';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';

/** oauth4webapi, given nothing but the address of the token endpoint. */
function createOAuthClient({ port }: Pick<GatewayProcess, 'port'>) {
  const origin = `http://127.0.0.1:${port}`;
  const server: AuthorizationServer = {
    issuer: origin,
    token_endpoint: `${origin}/api/login/access-token`,
  };
  const client: Client = { client_id: 'an-oauth-client' };
  return async (
    parameters: Record<string, string>,
    { grantType = 'password', authentication = None() } = {},
  ): Promise<TokenEndpointResponse> => {
    const response = await genericTokenEndpointRequest(
      server,
      client,
      authentication,
      grantType,
      parameters,
      {
        [allowInsecureRequests]: true,
      },
    );
    return processGenericTokenEndpointResponse(server, client, response);
  };
}

const { username, password } = administrator;

t.test('a standard OAuth client signs in by password grant and understands the errors', async (t) => {
  const config = { login_throttle: { per_account_and_address: 2 } };
  const gateway = await startGatewayProcess(t, { config });
  const signIn = createOAuthClient(gateway);
  await gateway.api.activate(username, password, bootstrapToken);

  await t.test('a sign-in', async (t) => {
    const tokens = await signIn({ username, password, scope: 'store:write store:read' });
    t.match(tokens, { token_type: 'bearer', expires_in: 600, scope: 'store:read store:write' });
    const called = await gateway.api.send({ path: '/api/store/x', bearer: tokens.access_token });
    t.equal(called.status, 200);
  });

  await t.test('a sign-in with a client secret', async (t) => {
    const authentication = ClientSecretPost('a-secret-of-the-client');
    const tokens = await signIn({ username, password }, { authentication });
    t.type(tokens.access_token, 'string');
  });

  await t.test('an unsupported grant', async (t) => {
    const refused = signIn({ username, password }, { grantType: 'urn:example:other' });
    await t.rejects(refused, {
      name: ResponseBodyError.name,
      error: 'unsupported_grant_type',
      error_description: 'The grant type is not supported',
      status: 422,
    });
  });

  await t.test('a malformed request', async (t) => {
    const refused = signIn({ username });
    await t.rejects(refused, { name: ResponseBodyError.name, error: 'invalid_request', status: 422 });
  });

  await t.test("wrong credentials: a challenge, and OAuth's error in the body", async (t) => {
    const error = await signIn({ username, password: 'not the password' }).catch((error) => error);
    t.type(error, WWWAuthenticateChallengeError);
    t.match(error.cause, [{ scheme: 'bearer', parameters: { realm: 'acme' } }]);
    t.match(await error.response.json(), {
      error: 'invalid_grant',
      error_description: 'Incorrect username or password',
    });
  });

  await t.test('too many attempts', async (t) => {
    await signIn({ username, password: 'not the password' }).catch(() => {});
    const error = await signIn({ username, password }).catch((error) => error);
    t.type(error, ResponseBodyError);
    t.match(error, { error: 'temporarily_unavailable', status: 429 });
    t.match(error.response.headers.get('retry-after'), /^[1-9]\d*$/);
  });
});

t.test('an OAuth client recognises a full hashing queue by its status', async (t) => {
  const config = { passwords: { memory: '64MiB', iterations: 10, queue: 0 } };
  const gateway = await startGatewayProcess(t, { config });
  await gateway.api.activate(username, password, bootstrapToken);
  const signIn = createOAuthClient(gateway);
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => signIn({ username, password })));
  const refused = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
  t.type(refused.reason, OperationProcessingError, 'the library reads no body of a 5xx');
  t.equal(refused.reason.cause.status, 503);
  t.match(await refused.reason.cause.json(), { error: 'temporarily_unavailable' });
});
