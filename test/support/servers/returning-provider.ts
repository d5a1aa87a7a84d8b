import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { es256, jwkOf } from '../corpora/forged-assertions.ts';
import { publish, startStubProvider } from './stub-provider.ts';

/** A provider on another site that knows every browser: it leads back at once, with a code that nobody redeems. Gives its issuer. */
export async function startReturningProvider(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://provider');
    const back = new URL(searchParams.get('redirect_uri') ?? '');
    back.search = `code=c&state=${searchParams.get('state')}`;
    response.writeHead(302, { location: back.href }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve));
  t.teardown(() => server.close());
  const stub = await startStubProvider(t);
  const { port } = server.address() as AddressInfo;
  publish(stub, [jwkOf(es256)], { authorization_endpoint: `http://127.0.0.2:${port}/auth` });
  return stub.origin;
}
