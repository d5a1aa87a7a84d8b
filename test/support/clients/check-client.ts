import { Client, type ClientUnaryCall, credentials } from '@grpc/grpc-js';
import {
  type CheckRequest,
  type CheckResponse,
  checkPath,
  createCheckCodec,
} from '../../../src/forward-auth/check-protocol.ts';
import { createCredentialWatch } from '../gateway/credential-watch.ts';
import type { TestScope } from '../gateway/gateway.ts';

/** What Envoy asks, in short. */
export interface Check {
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  /** As `header_map`: each field by itself. */
  readonly headerMap?: readonly (readonly [name: string, value: string])[];
  /** As `headers`: each name once. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly source?: string;
}

/** An answer, in short; names are in lower case. */
export interface Checked {
  readonly allowed: boolean;
  /** 200 where it is allowed. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly removed: readonly string[];
  readonly body: string;
}

/** Asks over gRPC. */
export interface CheckClient {
  check(question: Check): Promise<Checked>;
  /** Sends bytes in place of a question. */
  send(bytes: Buffer): Promise<Checked>;
}

const { encodeRequest, decodeResponse } = createCheckCodec();

/** What a client needs for TLS: whom it trusts, and who it is. */
export interface CheckClientTls {
  readonly ca: Buffer;
  readonly own?: { readonly cert: Buffer; readonly key: Buffer };
}

/** Connects to a listener for Envoy; `tls`: with TLS, as `localhost`. */
export function connectCheckClient(t: TestScope, port: number, tls?: CheckClientTls): CheckClient {
  const { cert = null, key = null } = tls?.own ?? {};
  const channel = tls === undefined ? credentials.createInsecure() : credentials.createSsl(tls.ca, key, cert);
  const client = new Client(`localhost:${port}`, channel);
  t.teardown(() => client.close());
  const call = <T>(serialize: (value: T) => Buffer, value: T) =>
    new Promise<Checked>(
      (resolve, reject): ClientUnaryCall =>
        client.makeUnaryRequest(checkPath, serialize, decodeResponse, value, (error, response) =>
          error === null ? resolve(inShort(response!)) : reject(error),
        ),
    );
  return {
    check: (question) => call((value: Check) => Buffer.from(encodeRequest(messageOf(value))), question),
    send: (bytes) => call((value: Buffer) => value, bytes),
  };
}

function messageOf({ method = 'GET', path = '/', host = 'app.example', ...more }: Check): CheckRequest {
  const map = more.headerMap?.map(([key, value]) => ({
    key,
    value: '',
    raw_value: Buffer.from(value, 'latin1'),
  }));
  const http = { method, path, host, headers: more.headers ?? {}, header_map: { headers: map ?? [] } };
  const source = { address: { socket_address: { address: more.source ?? '192.0.2.7' } } };
  return { attributes: { source, request: { http } } };
}

function inShort({ status, ok_response: allowed, denied_response: denied }: CheckResponse): Checked {
  const headers = Object.fromEntries(
    (allowed ?? denied)!.headers.map(({ header: { key, value } }) => [key, value]),
  );
  const watch = createCredentialWatch();
  watch.search('an answer', Object.entries(headers).flat());
  watch.assertNone();
  const isAllowed = status.code === 0;
  return {
    allowed: isAllowed,
    status: isAllowed ? 200 : denied!.status.code,
    headers,
    removed: allowed?.headers_to_remove ?? [],
    body: denied?.body ?? '',
  };
}
