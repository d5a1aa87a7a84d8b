import type { LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import type { ApiClient, ApiResponse } from '../../support/clients/api-client.ts';
import type { TestScope } from '../../support/gateway/gateway.ts';
import { nodeAddress } from '../node/addresses.ts';

/**
 * A client of many names, all of which it finds at the node's address. By the certificates in `ca` it verifies that it
 * has reached the name in `Host`.
 */
export function createIngressClient(t: TestScope, ca: readonly Buffer[]): Pick<ApiClient, 'send'> {
  const lookup: LookupFunction = (_name, _options, done) => done(null, [{ address: nodeAddress, family: 4 }]);
  const dispatcher = new Agent({ connect: { ca: [...ca], lookup } });
  t.teardown(() => dispatcher.close());
  return {
    async send({ method = 'GET', path, form, headers = {}, cookie }): Promise<ApiResponse> {
      const sent = {
        ...headers,
        ...(cookie !== undefined && { cookie }),
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      };
      const body = form && new URLSearchParams(form).toString();
      const options = { dispatcher, method, headers: sent, body } as const;
      const response = await request(`https://${headers.host}${path}`, options);
      const { 'set-cookie': setCookies = [], ...rest } = response.headers;
      const text = await response.body.text();
      const isJson = /json/.test(String(rest['content-type']));
      return {
        status: response.statusCode,
        headers: rest as ApiResponse['headers'],
        setCookies: [setCookies].flat(),
        text,
        json: isJson ? JSON.parse(text) : undefined,
      };
    },
  };
}
