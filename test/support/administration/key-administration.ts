import type { ApiRequest, ApiResponse } from '../clients/api-client.ts';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestGateway,
  type TestScope,
} from '../gateway/gateway.ts';

/** Where API keys are administered. */
export const keysPath = '/api/admin/api-keys/';

/** Who makes a call. */
export type Credential = Pick<ApiRequest, 'bearer' | 'apiKey'>;

/** A gateway whose administrator is signed in, with the calls about API keys. */
export interface KeyAdministration extends TestGateway {
  readonly asAdministrator: { readonly bearer: string };
  readonly administratorId: string;
  /** Below {@link keysPath}; the administrator calls unless `caller` says otherwise. */
  call(method: string, path?: string, caller?: Credential): Promise<ApiResponse>;
  /** Asks for a key, whatever the response. */
  ask(body: unknown, caller?: Credential): Promise<ApiResponse>;
  /** Mints a key for `store:read`, or what `body` says beside its label; throws when it was refused. */
  mint(body?: object, caller?: Credential): Promise<any>;
  /** The status with which a key is answered on a route that asks for `store:read`. */
  statusOfUse(rawKey: string): Promise<number>;
}

/** Starts a gateway, activates its administrator and signs in; `folder`: one where that was done before. */
export async function startKeyAdministration(
  t: TestScope,
  options: { readonly config?: object; readonly folder?: string } = {},
): Promise<KeyAdministration> {
  const gateway = await startTestGateway(t, options);
  const { api } = gateway;
  const { username, password } = administrator;
  if (options.folder === undefined) await api.activate(username, password, bootstrapToken);
  const { accessToken } = await api.signIn(username, password);
  const asAdministrator = { bearer: accessToken };
  const ask = (json: unknown, caller: Credential = asAdministrator) =>
    api.send({ method: 'POST', path: keysPath, json, ...caller });
  return {
    ...gateway,
    asAdministrator,
    administratorId: subjectOf(accessToken),
    call: (method, path = '', caller = asAdministrator) =>
      api.send({ method, path: keysPath + path, ...caller }),
    ask,
    async mint(body = {}, caller = asAdministrator) {
      const response = await ask({ label: 'a key', scopes: ['store:read'], ...body }, caller);
      if (response.status !== 201)
        throw new Error(`minting was answered ${response.status} ${response.text}`);
      return response.json;
    },
    statusOfUse: async (apiKey) => (await api.send({ path: '/api/store/asset/1', apiKey })).status,
  };
}

function subjectOf(accessToken: string): string {
  return JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()).sub;
}
