import type { Command } from './command.ts';
import { firstSignal } from './terminal.ts';
import { userCommands } from './user/user-commands.ts';

const setScopes = { value: '"a b"', help: 'scopes of the set, separated by spaces' };
const listenNames = ['port', 'host', 'bind', 'address'];
const setDescription = { value: 'TEXT', help: 'what the set is for' };

/** All commands. The code of each is loaded only when it is called, so that help is instant and signals are handled early. */
export const commands: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Run the gateway',
    example: 'serve --upstream :9000',
    details: 'It runs until SIGTERM or SIGINT',
    options: {
      quickstart: { help: 'print where to begin, in a browser and in a terminal' },
      upstream: {
        value: 'ADDRESS',
        isAlternative: true,
        help: `try it without a configuration: sign-in, console and keys in front of the service at this address (:9000,
localhost:9000, http://HOST:PORT, unix:PATH), with the data in ./data; it prints where to begin`,
      },
      listen: {
        value: '[HOST:]PORT',
        otherNames: listenNames,
        help: 'with --upstream: listen there instead of on 127.0.0.1:8080',
      },
    },
    stores: 'first-start',
    hasNoResult: true,
    run: async (call) => {
      const stopRequested = firstSignal(call.terminal);
      await (await import('./serve/serve.ts')).serve(call, stopRequested);
    },
  },
  {
    name: 'init',
    summary: 'Write ./postern.yaml for a service',
    example: 'init --upstream :9000 --base-url https://stock.example.com',
    details: `On a terminal it asks for what no option says. After a trial (serve --upstream) its values are the defaults, and the users
and keys in ./data stay`,
    options: {
      upstream: {
        value: 'ADDRESS',
        help: 'the service: :9000, localhost:9000, http://HOST:PORT or unix:PATH',
      },
      'base-url': { value: 'URL', help: 'address for browsers and programs; default: http://127.0.0.1:8080' },
      listen: {
        value: '[HOST:]PORT',
        otherNames: listenNames,
        help: 'address to listen on; default: by --base-url, with https 127.0.0.1:8080 behind a proxy',
      },
      console: {
        value: 'URL',
        help: `address of the console, a name of its own; --base-url's to share it, none for no console; default:
http://console.localhost, or none if --base-url isn't on this machine`,
      },
      tenant: { value: 'NAME', help: 'name of this instance; default: main' },
      title: { value: 'TEXT', help: "title of the sign-in page; default: the service's address" },
      force: { help: 'overwrite a postern.yaml' },
    },
    configuration: 'none',
    stores: 'none',
    run: async (call) => (await import('./setup/init.ts')).initialise(call),
  },
  {
    name: 'check',
    summary: 'Report every problem in the configuration',
    example: 'check --config /etc/postern/postern.yaml',
    details:
      'Problems that would stop serve are shown with line, column, key and rule; warnings name probable mistakes',
    stores: 'none',
    run: async (call) => (await import('./configuration.ts')).check(call),
  },
  {
    name: 'config apply',
    summary: 'Apply the users and scope sets of this file now',
    example: 'config apply --config /etc/postern/postern.yaml',
    details: `Gateways apply the file at start and reload unless a newer one was applied. This applies it regardless and makes it the
newest`,
    run: async (call) => (await import('./config-apply.ts')).applyConfiguration(call),
  },
  {
    name: 'openapi',
    summary: 'Print the OpenAPI document',
    example: 'openapi > openapi.json',
    details: 'Its paths are below api_path of the configuration, without one below /api',
    stores: 'none',
    hasNoResult: true,
    run: async (call) => (await import('./openapi.ts')).printDocument(call),
  },
  {
    name: 'backup',
    operands: ['FILE|-'],
    summary: 'Copy the records to a new file (-: standard output)',
    example: 'backup /var/backups/postern.db',
    details: `The gateway may be running. With -, standard output is the copy alone, and the last line of standard error is its SHA-256,
as sha256sum prints it; the copy is first made beside the records, which needs room for it`,
    run: async (call) => (await import('./backup.ts')).backup(call),
  },
  {
    name: 'records copy',
    summary: 'Copy all records to another, empty store',
    example: 'records copy --to postgres://postern@db.example.com/postern',
    details: 'Counts and checksums are compared afterwards',
    options: {
      from: { value: 'ADDRESS', help: 'records to copy; default: stores.records of the configuration' },
      to: { value: 'ADDRESS', help: 'empty store to copy to; default: likewise' },
    },
    stores: 'none',
    run: async (call) => (await import('./records.ts')).copyAllRecords(call),
  },
  {
    name: 'bootstrap-token',
    summary: 'Print the token for the first administrator',
    example: 'bootstrap-token --reset',
    options: { reset: { help: 'reopen activation, with a new token' } },
    run: async (call) => (await import('./bootstrap-token.ts')).bootstrapToken(call),
  },
  {
    name: 'forward-auth config',
    operands: ['PROXY'],
    summary: 'Print a forward-auth configuration for a proxy',
    example: 'forward-auth config nginx --service http://127.0.0.1:9000',
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
  {
    name: 'session list',
    summary: 'List the live sessions',
    example: 'session list --user ada',
    options: { user: { value: 'NAME', help: 'list only the sessions of this user' } },
    run: async (call) => (await import('./session.ts')).listSessions(call),
  },
  {
    name: 'session revoke',
    operands: ['[ID]'],
    summary: 'End a session, those of a user, or all',
    example: 'session revoke --user ada',
    options: {
      user: { value: 'NAME', help: 'end every session of this user' },
      all: { isAlternative: true, help: "end everyone's sessions" },
    },
    run: async (call) => (await import('./session.ts')).revokeSessions(call),
  },
  {
    name: 'scope-set list',
    summary: 'List the scope sets',
    example: 'scope-set list --json',
    run: async (call) => (await import('./scope-set.ts')).listScopeSets(call),
  },
  {
    name: 'scope-set add',
    operands: ['NAME'],
    summary: 'Create a scope set',
    example: 'scope-set add readers --scopes "orders:read stock:read"',
    options: { scopes: { ...setScopes, isRequired: true }, description: setDescription },
    run: async (call) => (await import('./scope-set.ts')).addScopeSet(call),
  },
  {
    name: 'scope-set set',
    operands: ['NAME'],
    summary: 'Replace what a scope set contains',
    example: 'scope-set set readers --description "May read everything"',
    details: 'Everyone who holds the set holds its new scopes with the next request',
    options: {
      scopes: setScopes,
      name: { value: 'NAME', help: 'new name of the set' },
      description: setDescription,
    },
    run: async (call) => (await import('./scope-set.ts')).setScopeSet(call),
  },
  {
    name: 'scope-set remove',
    operands: ['NAME'],
    summary: 'Delete a scope set that nothing holds',
    example: 'scope-set remove readers',
    run: async (call) => (await import('./scope-set.ts')).deleteScopeSet(call),
  },
  {
    name: 'key create',
    summary: 'Create an API key and print it, this one time',
    example: 'key create --user ada --label backup --scopes access --expires 90d',
    options: {
      user: { value: 'NAME', isRequired: true, help: 'owner of the key' },
      label: { value: 'TEXT', isRequired: true, help: 'name of the key in lists and in the audit' },
      scopes: { value: '"a b"', help: 'scopes, separated by spaces; needed without --scope-set' },
      'scope-set': { value: 'NAME', isRepeatable: true, help: 'scope set that the key holds' },
      expires: {
        value: 'TIME',
        help: 'duration from now (30d) or instant (2030-12-31T00:00:00Z); default: as long as api_keys.max_lifetime allows',
      },
    },
    run: async (call) => (await import('./key.ts')).createKey(call),
  },
  {
    name: 'key list',
    summary: 'List the API keys',
    example: 'key list --user ada',
    options: { user: { value: 'NAME', help: 'list only the keys of this user' } },
    run: async (call) => (await import('./key.ts')).listKeys(call),
  },
  {
    name: 'key revoke',
    operands: ['ID'],
    summary: 'Delete an API key',
    example: 'key revoke 019ab1d5-6a1e-7c7b-b3e1-0f5c2a3d4e5f --children',
    options: { children: { help: 'delete every key minted with it, too, at any depth' } },
    run: async (call) => (await import('./key.ts')).deleteKey(call),
  },
  {
    name: 'key transfer',
    operands: ['ID'],
    summary: 'Give an API key to another user',
    example: 'key transfer 019ab1d5-6a1e-7c7b-b3e1-0f5c2a3d4e5f --user grace',
    details: 'From then on the key is bounded by what its new owner holds',
    options: { user: { value: 'NAME', isRequired: true, help: 'new owner of the key' } },
    run: async (call) => (await import('./key.ts')).giveKey(call),
  },
  {
    name: 'signing-key list',
    summary: 'List the keys of tokens, assertions and cookies',
    example: 'signing-key list --json',
    run: async (call) => (await import('./signing-key.ts')).listSigningKeys(call),
  },
  {
    name: 'signing-key rotate',
    summary: 'Have the next key sign',
    example: 'signing-key rotate --purpose access-token',
    details: `A key signs only after it has been published for signing_keys.publish_ahead: if the next key hasn't been published that
long, gateways switch once it has. No one is signed out`,
    options: {
      purpose: {
        value: 'PURPOSE',
        help: 'replace only the keys of access-token, assertion or cookie; default: those of every purpose',
      },
    },
    run: async (call) => (await import('./signing-key.ts')).rotateKeys(call),
  },
  {
    name: 'signing-key revoke',
    operands: ['KID'],
    summary: 'Refuse whatever a key has signed, from now on',
    example: 'signing-key revoke rqEo2wm3hKc0YH1z9uWq4TnV5xJdLbSgAe7iPf8CkXo',
    details: `The next key signs at once. Sessions go on, except after a cookie secret is revoked: browsers with its cookies have to sign
in again. Services that verify tokens themselves accept the key until they fetch the published keys again`,
    run: async (call) => (await import('./signing-key.ts')).refuseSigningKey(call),
  },
  {
    name: 'audit list',
    summary: 'Show who did what',
    example: 'audit list --event login_failed --follow',
    details: 'The newest event comes last',
    options: {
      limit: { value: 'N', help: 'how many of the newest events to show; default: 100' },
      event: { value: 'NAME', help: 'show only events of this name' },
      follow: { help: 'go on with each new event until Ctrl-C; with --json, one object a line' },
    },
    run: async (call) => (await import('./audit.ts')).listAudit(call),
  },
];
