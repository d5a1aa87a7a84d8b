import { request as httpRequest } from 'node:http';
import type { SecretWatch } from '../gateway/secret-watch.ts';

/** A response, read whole. */
export interface ApiResponse {
  readonly status: number;
  /** Header values by name in lower case; repeated ones joined, `set-cookie` apart. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly setCookies: readonly string[];
  readonly text: string;
  /** The body parsed as JSON; undefined if it isn't JSON. */
  readonly json: any;
}

export interface ApiRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string | string[]>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as a form. */
  readonly form?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly bearer?: string;
  readonly apiKey?: string;
  readonly cookie?: string;
}

/** A signed-in user of a test. */
export interface SignedInUser {
  readonly accessToken: string;
  /** `name=value` of the refresh cookie. */
  readonly cookie: string;
  readonly response: ApiResponse;
}

/** Speaks to a test gateway and keeps watch over every secret that passes. */
export interface ApiClient {
  /** Path below which the gateway has its API. */
  readonly apiPath: string;
  send(request: ApiRequest): Promise<ApiResponse>;
  activate(username: string, password: string, token: string): Promise<ApiResponse>;
  signIn(username: string, password: string, more?: Record<string, string>): Promise<SignedInUser>;
  refresh(cookie: string): Promise<ApiResponse>;
  /** Mints a key and gives its response body, `key` included; throws when it was refused. */
  mintKey(bearer: string, body: object): Promise<any>;
}

/** An audit event names a key by its id, a UUID, which is no secret. */
const secretFields = /"(?:access_token|key|token|password)":"((?![0-9a-f]{8}-[0-9a-f]{4}-7)[^"]+)"/g;

/** A page gives back the token that was sent to it, so that people need not open their link again for a better password. */
const sentToken = /<input[^>]* name="token"[^>]*>/;

/** Creates the client of the gateway on that port; `apiPath`: that of its configuration. */
export function createApiClient(
  port: number,
  secrets: SecretWatch,
  host = '127.0.0.1',
  apiPath = '/api',
): ApiClient {
  function send(sent: ApiRequest): Promise<ApiResponse> {
    const { headers, body } = encode(sent);
    watchRequest(sent, secrets);
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        { host, port, method: sent.method ?? 'GET', path: sent.path, headers, agent: false },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const { 'set-cookie': setCookies = [], ...rest } = incoming.headers;
            const response = {
              status: incoming.statusCode!,
              headers: rest as ApiResponse['headers'],
              setCookies,
              text,
              json: parse(text),
            };
            watchResponse(response, secrets);
            resolve(response);
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }

  async function signIn(username: string, password: string, more = {}): Promise<SignedInUser> {
    const response = await send({
      method: 'POST',
      path: `${apiPath}/login/access-token`,
      form: { username, password, ...more },
    });
    if (response.status !== 200) throw new Error(`sign-in was answered ${response.status} ${response.text}`);
    const cookie = response.setCookies[0]!.split(';', 1)[0]!;
    return { accessToken: response.json.access_token, cookie, response };
  }

  return {
    apiPath,
    send,
    signIn,
    activate: (username, password, token) =>
      send({ method: 'POST', path: `${apiPath}/bootstrap/activate`, json: { token, username, password } }),
    refresh: (cookie) => send({ method: 'POST', path: `${apiPath}/login/refresh-token`, cookie }),
    async mintKey(bearer, body) {
      const path = `${apiPath}/admin/api-keys/`;
      const response = await send({ method: 'POST', path, bearer, json: body });
      if (response.status !== 201)
        throw new Error(`minting was answered ${response.status} ${response.text}`);
      return response.json;
    },
  };
}

function encode(sent: ApiRequest): { headers: Record<string, string | string[]>; body?: string | Buffer } {
  const headers: Record<string, string | string[]> = {};
  let body = sent.body;
  if (sent.json !== undefined) {
    headers['content-type'] = 'application/json';
    body = JSON.stringify(sent.json);
  } else if (sent.form !== undefined) {
    headers['content-type'] = 'application/x-www-form-urlencoded';
    body = new URLSearchParams(sent.form).toString();
  }
  if (sent.bearer !== undefined) headers.authorization = `Bearer ${sent.bearer}`;
  if (sent.apiKey !== undefined) headers['x-api-key'] = sent.apiKey;
  if (sent.cookie !== undefined) headers.cookie = sent.cookie;
  if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));
  return { headers: { ...headers, ...sent.headers }, body };
}

function watchRequest(sent: ApiRequest, secrets: SecretWatch): void {
  for (const name of ['password', 'client_secret']) if (sent.form?.[name]) secrets.add(sent.form[name]);
  if (sent.json !== undefined)
    for (const [, secret] of JSON.stringify(sent.json).matchAll(secretFields)) secrets.add(secret!);
  if (sent.bearer !== undefined) secrets.add(sent.bearer);
  if (sent.apiKey !== undefined) secrets.add(sent.apiKey);
  if (sent.cookie !== undefined) secrets.add(sent.cookie.slice(sent.cookie.indexOf('=') + 1));
}

function watchResponse(response: ApiResponse, secrets: SecretWatch): void {
  if (response.status >= 400) secrets.addPublicText(response.text.replace(sentToken, ''));
  else for (const [, secret] of response.text.matchAll(secretFields)) secrets.add(secret!);
  for (const cookie of response.setCookies) {
    const value = cookie.split(';', 1)[0]!;
    secrets.add(value.slice(value.indexOf('=') + 1));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
