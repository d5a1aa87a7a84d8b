import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort } from '../machine.ts';
import { startIdentityProvider } from './identity-provider.ts';
import { installedProgram, installedVersion } from './installed.ts';
import { asPeer, startListening } from './launch.ts';
import type { Peer, Surroundings } from './peer.ts';

/** Oathkeeper with tokens that it verifies by a key set in a file. */
export const oathkeeperJwt: Peer = {
  name: 'oathkeeper-jwt',
  description: 'Ory Oathkeeper: RS256 tokens verified by a local key set, mutator `header`',
  refusal: 401,
  identity: 'X-Auth-Subject',
  version: () => installedVersion('oathkeeper'),
  async start(surroundings) {
    const provider = await startIdentityProvider();
    const { keySet, issuer } = provider;
    const values = (await provider.createTokens()).map((token) => `Bearer ${token}`);
    provider.stop();
    const port = await freePort();
    const file = await configure(surroundings, { port, keySet, issuer });
    const program = {
      name: 'oathkeeper',
      command: installedProgram('oathkeeper'),
      args: ['serve', '--config', file],
      // It reports its usage to its makers unless told not to.
      env: { SQA_OPT_OUT: 'true' },
    };
    const proxy = await startListening(surroundings, program, port);
    return asPeer(surroundings, port, { header: 'Authorization', values }, [proxy]);
  },
};

interface Setup {
  readonly port: number;
  readonly keySet: object;
  readonly issuer: string;
}

/** Writes its files; returns the path of the configuration. */
async function configure({ directory, upstreamPort }: Surroundings, setup: Setup): Promise<string> {
  const write = (name: string, document: object) => {
    const file = join(directory, `oathkeeper-${name}.json`);
    writeFileSync(file, JSON.stringify(document));
    return file;
  };
  const host = '127.0.0.1';
  const headers = { 'X-Auth-Subject': '{{ print .Subject }}' };
  const rules = write('rules', [
    {
      id: 'app',
      upstream: { url: `http://${host}:${upstreamPort}` },
      match: { url: `http://${host}:${setup.port}/<.*>`, methods: ['GET', 'PUT'] },
      authenticators: [{ handler: 'jwt' }],
      authorizer: { handler: 'allow' },
      mutators: [{ handler: 'header' }],
      errors: [{ handler: 'json' }],
    },
  ]);
  const jwks_urls = [pathToFileURL(write('keys', setup.keySet)).href];
  return write('configuration', {
    log: { level: 'panic' },
    serve: {
      proxy: { host, port: setup.port },
      api: { host, port: await freePort() },
      prometheus: { host, port: await freePort() },
    },
    access_rules: { repositories: [pathToFileURL(rules).href] },
    authenticators: { jwt: { enabled: true, config: { jwks_urls, trusted_issuers: [setup.issuer] } } },
    authorizers: { allow: { enabled: true } },
    mutators: { header: { enabled: true, config: { headers } } },
    errors: { fallback: ['json'], handlers: { json: { enabled: true } } },
  });
}
