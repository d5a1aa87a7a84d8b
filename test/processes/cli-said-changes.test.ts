import t from 'tap';
import { argumentsFor } from '../../src/cli/user/no-scopes.ts';
import { createCommandFolder } from '../support/gateway/command.ts';

const input = 'correct horse battery staple\n';
const link = ['--provider', 'idp', '--subject', '2482'];

/** Commands in their order, and the sentences that they say. */
const changes: readonly (readonly [args: readonly string[], ...sentences: readonly string[]])[] = [
  [
    ['user', 'add', 'ada', '--create'],
    '"ada" is created',
    '"ada" holds no scopes yet, and routes ask for store:read store:write: user set ada --scopes "…"',
  ],
  [['user', 'add', 'root', '--admin'], '"root" is created'],
  [['user', 'set', 'ada', '--scopes', 'store:read'], '"ada" is changed, and holds store:read'],
  [['user', 'set', 'ada', '--scopes', ''], '"ada" is changed, and holds no scopes'],
  [['user', 'set-password', 'ada'], '"ada" has a new password, and all sessions of this user have ended'],
  [['user', 'unlock', 'ada'], 'the failed sign-ins of "ada" are forgotten'],
  [['user', 'link', 'ada', ...link], '"2482" of idp signs in as "ada"'],
  [
    ['user', 'unlink', 'ada', ...link],
    '"2482" of idp no longer signs in as "ada", and all sessions of this user have ended',
  ],
  [['user', 'disable', 'ada'], '"ada" is disabled: all sessions have ended, and API keys are suspended'],
  [['user', 'enable', 'ada'], '"ada" is enabled: sign-in and API keys work again'],
  [['scope-set', 'add', 'readers', '--scopes', 'store:read'], 'scope set "readers" is created'],
  [
    ['scope-set', 'set', 'readers', '--scopes', 'store:write', '--name', 'writers'],
    'scope set "writers" is changed, and gives store:write to all who hold it',
  ],
  [['scope-set', 'remove', 'writers'], 'scope set "writers" is removed'],
  [
    ['key', 'create', '--user', 'root', '--label', 'ci', '--scopes', 'store:read'],
    'key "ci" of "root" is created, and not shown again',
  ],
  [['user', 'remove', 'ada'], '"ada" is removed, with all sessions and API keys'],
  [['bootstrap-token', '--reset'], 'activation is open again, with this token alone'],
];

t.test(
  'each command that changes something says so in a sentence, and with --json only the result',
  async (t) => {
    const folder = createCommandFolder(t, {
      identity_providers: {
        idp: {
          issuer: 'https://idp.example.com',
          client_id: 'postern',
          redirect_uri: 'https://acme.example.com/in',
        },
      },
    });
    const said = (stderr: string) =>
      stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    for (const [args, ...sentences] of changes) {
      const { code, stderr, audit } = await folder.run(args, { input });
      t.equal(code, 0, args.join(' '));
      t.strictSame(
        said(stderr),
        sentences.map((sentence) => `postern: ${sentence}`),
        args.join(' '),
      );
      t.ok(audit.length > 0, 'on a pipe the audit lines follow');
    }

    const [{ id }] = (await folder.run(['key', 'list', '--json'])).json;
    const sentenceOf = async (...args: string[]) => said((await folder.run(args, { input })).stderr);
    await folder.run(['user', 'add', 'grace', '--scopes', 'store:read'], { input });
    t.match(await sentenceOf('key', 'transfer', id, '--user', 'grace'), [
      'postern: key "ci" belongs to "grace" now',
    ]);
    t.match(await sentenceOf('key', 'revoke', 'ci'), [
      'postern: no key with id "ci": key list shows the ids',
    ]);
    const made = ['key', 'create', '--user', 'root', '--label', 'other', '--scopes', 'store:read'];
    const secret = (await folder.run(made)).stdout.trim();
    t.match(secret, /^\w+_\w{20,}$/);
    t.match(await sentenceOf('key', 'revoke', secret), [
      'postern: that is a key, not the id of one: key list shows the ids',
    ]);
    t.match(await sentenceOf('key', 'revoke', id), ['postern: key "ci" is deleted, and refused from now on']);
    t.match(await sentenceOf('user', 'remove', 'grace', '--transfer-keys', 'root'), [
      'postern: "grace" is removed, with all sessions; API keys of this user belong to "root" now',
    ]);
    await folder.run(['user', 'add', 'alan', '--without-password']);
    t.match(await sentenceOf('user', 'invite', 'alan'), [
      /^postern: until /,
      /^postern: "alan" holds no scopes yet, and routes ask for store:read store:write: user set alan /,
    ]);
    t.strictSame(await sentenceOf('user', 'set', 'alan', '--scopes', 'store:read', '--json'), []);
  },
);

t.test(
  'the hint about scopes names a scope that is the only one, and says nothing where routes ask for none',
  async (t) => {
    const hintWith = async (scopes: unknown, name = 'a name') => {
      const { run } = createCommandFolder(t, {
        scopes: { access: 'Use the service' },
        routes: [{ prefix: '/', upstream: 'app', ...(scopes !== undefined && { scopes }) }],
      });
      const { stderr } = await run(['user', 'add', name, '--service', '--create']);
      return stderr.split('\n').filter((line) => line.includes('holds no scopes'));
    };
    t.strictSame(await hintWith(['access']), [
      `postern: "a name" holds no scopes yet, and routes ask for access: user set 'a name' --scopes access`,
    ]);
    t.equal(argumentsFor('-h', 'access'), '--scopes access -- -h', 'no option');
    t.match(
      (await hintWith(['access'], 'ada\u202e txt'))[0],
      /: user set NAME --scopes access$/,
      'not shown raw',
    );
    t.strictSame(await hintWith({ read: ['access'] }), await hintWith(['access']));
    t.strictSame(await hintWith(undefined), []);
  },
);
