import { auditCommands } from './audit/audit-commands.ts';
import type { Command } from './command.ts';
import { keyCommands } from './key/key-commands.ts';
import { scopeSetCommands } from './scope-set/scope-set-commands.ts';
import { sessionCommands } from './session/session-commands.ts';
import { signingKeyCommands } from './signing-key/signing-key-commands.ts';
import { firstSignal, printResult } from './terminal.ts';
import { userCommands } from './user/user-commands.ts';

const text = { type: 'string' } as const;
const switched = { type: 'boolean' } as const;

/** Every command. Its code is loaded when it is called: help is instant, and signals are handled early. */
export const commands: readonly Command[] = [
  {
    name: 'serve',
    operands: [],
    synopsis: '[--quickstart | --upstream URL]',
    summary: 'Run the gateway',
    details: `--quickstart prints where to begin, in a browser and in a terminal. --upstream URL needs no configuration: it puts a
sign-in page in front of that service on 127.0.0.1:8080, keeps its data in ./data, and prints the same. It runs until SIGTERM
or SIGINT`,
    options: { quickstart: switched, upstream: text },
    configuration: 'optional',
    stores: 'first-start',
    run: async (call) => {
      const stopRequested = firstSignal(call.terminal);
      await (await import('./serve/serve.ts')).serve(call, stopRequested);
    },
  },
  {
    name: 'check',
    operands: [],
    synopsis: '',
    summary: 'Report every problem in the configuration',
    details:
      'Reports what would stop serve, with line, column, key and rule, and warns of what is probably a mistake',
    options: {},
    stores: 'none',
    run: async (call) => (await import('./configuration.ts')).check(call),
  },
  {
    name: 'config apply',
    operands: [],
    synopsis: '',
    summary: 'Apply the users and scope sets of this file now',
    details: `A gateway does so when it starts, and when it reads others than before: this applies those of the file at any time, so that
every other one counts as superseded`,
    options: {},
    run: async (call) => (await import('./config-apply.ts')).applyConfiguration(call),
  },
  {
    name: 'openapi',
    operands: [],
    synopsis: '',
    summary: 'Print the OpenAPI document',
    options: {},
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
    synopsis: '',
    summary: 'Copy the records to a new file (-: standard output)',
    details: `The gateway may be running. With - standard output is the copy and nothing else, and the last line of standard error is
its SHA-256, as sha256sum prints it; the copy is made beside the records first, which needs room for it`,
    options: {},
    run: async (call) => (await import('./backup.ts')).backup(call),
  },
  {
    name: 'records copy',
    operands: [],
    synopsis: '[--from ADDRESS] [--to ADDRESS]',
    summary: 'Copy all records to another, empty store',
    details:
      'A missing address is stores.records of the configuration. Counts and checksums are compared afterwards',
    options: { from: text, to: text },
    configuration: 'optional',
    stores: 'none',
    run: async (call) => (await import('./records.ts')).copyAllRecords(call),
  },
  {
    name: 'bootstrap-token',
    operands: [],
    synopsis: '[--reset]',
    summary: 'Print the token for the first administrator',
    details: '--reset reopens activation, with a new token',
    options: { reset: switched },
    run: async (call) => (await import('./bootstrap-token.ts')).bootstrapToken(call),
  },
  {
    name: 'forward-auth config',
    operands: ['PROXY'],
    synopsis: '[--host NAME] [--service URL] [--listen HOST:PORT]',
    summary: 'Print the configuration of a proxy that asks',
    details: `PROXY is nginx, ingress-nginx, traefik, caddy, haproxy, envoy, envoy-grpc or gateway-api. It asks on the first listener of
forward_auth with its mode. --host is the name under which the proxy finds Postern, --service what it forwards to (default: the first upstream of a route, else http://127.0.0.1:9000), --listen where it listens itself`,
    options: { host: text, service: text, listen: text },
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
