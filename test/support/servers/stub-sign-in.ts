import type { Test } from 'tap';
import type { ApiRequest, ApiResponse } from '../clients/api-client.ts';
import { es256, claims as exampleClaims, forge, header, jwkOf, rs256 } from '../corpora/forged-assertions.ts';
import { startTestGateway, type TestGateway } from '../gateway/gateway.ts';
import { publish, type StubProvider, startStubProvider } from './stub-provider.ts';

/** Who signed in at the stub provider, and in which browser. */
export interface BegunSignIn {
  /** `name=value` of the cookie that binds it to its browser. */
  readonly cookie: string;
  readonly nonce: string;
  readonly state: string;
}

/** A gateway with providers whose assertions the test signs itself. */
export interface StubSignIn {
  readonly gateway: TestGateway;
  /** The provider of `idp` and `open`. */
  readonly stub: StubProvider;
  /** Claims that are good now, but for a nonce. */
  claims(change?: object): typeof exampleClaims;
  /** An assertion with those claims. */
  assertion(change?: object): string;
  begin(provider?: string, cookie?: string): Promise<BegunSignIn>;
  exchange(assertion: string, cookie?: string, provider?: string): Promise<ApiResponse>;
  /** The request of {@link exchange}. */
  request(assertion: string, cookie?: string, provider?: string): ApiRequest;
  /** Ends the gateway and starts another on its stores. */
  restart(): Promise<StubSignIn>;
}

/** Starts it: `idp` takes what was begun alone, `open` also what was not; `other` and `codes` are elsewhere. */
export async function startStubSignIn(t: Test): Promise<StubSignIn> {
  const stub = await startStubProvider(t);
  const other = await startStubProvider(t);
  for (const provider of [stub, other]) publish(provider, [jwkOf(es256), jwkOf(rs256)]);
  const common = { issuer: stub.origin, client_id: 'postern', redirect_uri: 'https://acme.example.com/in' };
  const config = {
    identity_providers: {
      idp: common,
      open: { ...common, unsolicited: true },
      other: { ...common, issuer: other.origin },
      codes: { ...common, issuer: other.origin, response: 'code' },
    },
  };
  return withGateway(t, stub, config);
}

async function withGateway(
  t: Test,
  stub: StubProvider,
  config: object,
  folder?: string,
): Promise<StubSignIn> {
  const gateway = await startTestGateway(t, { config, ...(folder !== undefined && { folder }) });
  const claims = (change: object = {}) => {
    const iat = Math.floor(Date.now() / 1000);
    return { ...exampleClaims, iss: stub.origin, iat, exp: iat + 300, ...change };
  };
  const request = (assertion: string, cookie?: string, provider = 'idp'): ApiRequest => {
    gateway.secrets.add(assertion);
    const path = `/api/login/${provider}/exchange`;
    return { method: 'POST', path, form: { assertion }, ...(cookie !== undefined && { cookie }) };
  };
  return {
    gateway,
    stub,
    claims,
    request,
    assertion: (change) => forge(header, claims(change)),
    async begin(provider = 'idp', cookie) {
      const path = `/api/login/${provider}/start`;
      const { json, setCookies } = await gateway.api.send({ path, ...(cookie !== undefined && { cookie }) });
      const { nonce, state } = Object.fromEntries(new URL(json.url).searchParams);
      return { cookie: setCookies[0]!.split(';', 1)[0]!, nonce: nonce!, state: state! };
    },
    exchange: (...from) => gateway.api.send(request(...from)),
    async restart() {
      await gateway.stop();
      return withGateway(t, stub, config, gateway.folder);
    },
  };
}
