import { auditCommands } from './audit/audit-commands.ts';
import type { Command } from './command.ts';
import { keyCommands } from './key/key-commands.ts';
import { scopeSetCommands } from './scope-set/scope-set-commands.ts';
import { sessionCommands } from './session/session-commands.ts';
import { signingKeyCommands } from './signing-key/signing-key-commands.ts';
import { firstSignal, printResult } from './terminal.ts';
import { userCommands } from './user/user-commands.ts';

/** Every command. Its code is loaded when it is called: help is instant, and signals are handled early. */
export const commands: readonly Command[] = [
  {
    name: 'serve',
    operands: [],
    summary: 'Run the gateway',
    details: 'It runs until SIGTERM or SIGINT',
    options: {
      quickstart: { help: 'print where to begin, in a browser and in a terminal' },
      upstream: {
        value: 'URL',
        isAlternative: true,
        help: `do without a configuration: put a sign-in page on 127.0.0.1:8080 in front of this service, keep the data in ./data,
and print where to begin`,
      },
    },
    configuration: 'optional',
    stores: 'first-start',
    hasNoResult: true,
    run: async (call) => {
      const stopRequested = firstSignal(call.terminal);
      await (await import('./serve/serve.ts')).serve(call, stopRequested);
    },
  },
  {
    name: 'check',
    operands: [],
    summary: 'Report every problem in the configuration',
    details:
      'Problems that would stop serve are shown with line, column, key and rule; warnings name probable mistakes',
    stores: 'none',
    run: async (call) => (await import('./configuration.ts')).check(call),
  },
  {
    name: 'config apply',
    operands: [],
    summary: 'Apply the users and scope sets of this file now',
    details: `Gateways apply the file at start and reload unless a newer one was applied. This applies it regardless and makes it the
newest`,
    run: async (call) => (await import('./config-apply.ts')).applyConfiguration(call),
  },
  {
    name: 'openapi',
    operands: [],
    summary: 'Print the OpenAPI document',
    configuration: 'none',
    stores: 'none',
    run: async (call) => {
      const document = (await import('../openapi/document.ts')).openApiDocument();
      await printResult(call, document, JSON.stringify(document, null, 2));
    },
  },
  {
    name: 'backup',
    operands: ['FILE|-'],
    summary: 'Copy the records to a new file (-: standard output)',
    details: `The gateway may be running. With -, standard output is the copy alone, and the last line of standard error is its SHA-256,
as sha256sum prints it; the copy is first made beside the records, which needs room for it`,
    run: async (call) => (await import('./backup.ts')).backup(call),
  },
  {
    name: 'records copy',
    operands: [],
    summary: 'Copy all records to another, empty store',
    details: 'Counts and checksums are compared afterwards',
    options: {
      from: { value: 'ADDRESS', help: 'records to copy; default: stores.records of the configuration' },
      to: { value: 'ADDRESS', help: 'empty store to copy to; default: likewise' },
    },
    configuration: 'optional',
    stores: 'none',
    run: async (call) => (await import('./records.ts')).copyAllRecords(call),
  },
  {
    name: 'bootstrap-token',
    operands: [],
    summary: 'Print the token for the first administrator',
    options: { reset: { help: 'reopen activation, with a new token' } },
    run: async (call) => (await import('./bootstrap-token.ts')).bootstrapToken(call),
  },
  {
    name: 'forward-auth config',
    operands: ['PROXY'],
    summary: 'Print a forward-auth configuration for a proxy',
    details: `PROXY is nginx, ingress-nginx, traefik, caddy, haproxy, envoy, envoy-grpc or gateway-api. It asks the first listener of
forward_auth that has its mode`,
    options: {
      host: { value: 'NAME', help: 'name under which the proxy reaches Postern' },
      service: {
        value: 'URL',
        help: 'service that it forwards to; default: the first upstream of a route, else http://127.0.0.1:9000',
      },
      listen: { value: 'HOST:PORT', help: 'address that the proxy listens on' },
    },
    stores: 'none',
    run: async (call) => (await import('./forward-auth.ts')).forwardAuthConfig(call),
  },
  ...userCommands,
  ...sessionCommands,
  ...scopeSetCommands,
  ...keyCommands,
  ...signingKeyCommands,
  ...auditCommands,
];
