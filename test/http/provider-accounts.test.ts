import t, { type Test } from 'tap';
import { addUser, changeUser, withRecords } from '../support/administration/accounts.ts';
import { linkIdentity, listUsers } from '../support/administration/record-changes.ts';
import { addScopeSet } from '../support/administration/scope-sets.ts';
import type { ApiResponse } from '../support/clients/api-client.ts';
import { runPostern } from '../support/gateway/command.ts';
import { type Browser, startProviderGateway, subjectOf } from '../support/gateway/provider-gateway.ts';

const password = 'nanoseconds are this long';
const notProvisioned = {
  status: 403,
  json: { code: 'user_not_provisioned', error: 'access_denied' },
  setCookies: [],
};

/** A gateway, what the upstream is told of a caller, and the command line beside it. */
async function start(t: Test, settings: object = {}) {
  const gateway = await startProviderGateway(t, { idp: settings });
  const { api, upstream, configFile } = gateway;
  async function seenOf({ json }: ApiResponse, name: string): Promise<string | undefined> {
    await api.send({ path: '/api/asset', bearer: json.access_token });
    return upstream.seen.at(-1)!.values(name)[0];
  }
  const run = (...args: string[]) => runPostern([...args, '--config', configFile]);
  const users = () => withRecords(gateway.folder, async (records) => listUsers(records));
  return { ...gateway, seenOf, run, users };
}

t.test('fifty first sign-ins at once make one account', async (t) => {
  const { begin, assertion, exchange, auditLines, users } = await start(t);
  const browsers = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const browser: Browser = {};
      return { browser, ...(await begin(browser)) };
    }),
  );
  const responses = await Promise.all(
    browsers.map(({ browser, nonce }) => exchange(browser, assertion({ nonce }))),
  );
  t.same(new Set(responses.map(({ status }) => status)), new Set([200]));
  t.equal(new Set(responses.map(subjectOf)).size, 1);
  t.equal((await users()).length, 1);
  t.equal(auditLines().filter(({ event }) => event === 'user_created').length, 1);
});

t.test('an account is issuer and subject, whatever the name and the address', async (t) => {
  const { signIn, seenOf, users } = await start(t);
  const profile = { preferred_username: 'alice', email: 'alice@example.com', email_verified: true };
  const alice = await signIn({ sub: '1', ...profile, name: 'Alice' });
  const other = await signIn({ sub: '2', ...profile });
  const renamed = await signIn({ sub: '1', preferred_username: 'bob', email: 'bob@example.com', name: 'B' });
  t.not(subjectOf(alice), subjectOf(other));
  t.equal(subjectOf(alice), subjectOf(renamed));
  t.equal(await seenOf(renamed, 'x-auth-username'), 'alice', 'a name once assigned stays');
  t.equal(await seenOf(other, 'x-auth-username'), 'alice%20(idp)');
  const third = await signIn({ sub: '3', ...profile });
  t.equal(await seenOf(third, 'x-auth-username'), `alice%20(${subjectOf(third)})`);
  t.match(
    (await users()).find(({ id }) => id === subjectOf(alice)),
    { displayName: 'B', email: 'bob@example.com', passwordHash: null, lastLogin: Number },
  );
});

t.test('a sign-in’s changes to a user are in the audit, in its transaction', async (t) => {
  const grants = [{ claim: 'groups', value: 'readers', scopes: ['store:read'] }];
  const { signIn, folder, auditLines } = await start(t, { grants });
  const claims = { sub: '1', preferred_username: 'alice', name: 'Alice' };
  const id = subjectOf(await signIn({ ...claims, groups: ['readers'] }));
  await signIn({ ...claims, groups: ['readers'] });
  await signIn({ ...claims, name: 'Alice B', groups: [] });
  const filters = [{ field: 'target', operator: 'eq', value: id }] as const;
  const query = { sortBy: 'time', sortOrder: 'asc', filters, size: 10 } as const;
  const { items } = await withRecords(folder, async (records) => records.listAuditEvents(query));
  const actor = { user: null, kind: 'provider' };
  t.match(items, [
    {
      event: 'user_created',
      actor,
      target: { type: 'user', id },
      changes: { fields: ['username', 'display_name'], scopes: { added: ['store:read'], removed: [] } },
    },
    {
      event: 'user_changed',
      actor,
      changes: { fields: ['display_name'], scopes: { added: [], removed: ['store:read'] } },
    },
  ]);
  t.equal(items.length, 2, 'none of a sign-in that changes nothing');
  for (const { id: eventId, event } of items)
    t.match(
      auditLines().filter((line) => line.id === eventId),
      [{ event, subject: id, provider: 'idp' }],
    );
});

t.test('the same subject at two issuers is two people', async (t) => {
  const gateway = await start(t);
  await withRecords(gateway.folder, async (records) => {
    const user = await addUser(gateway.folder, { username: 'theirs', password });
    await linkIdentity(records, user.id, { issuer: 'https://other.example', subject: 'alice-1' });
  });
  const response = await gateway.signIn();
  t.not(await gateway.seenOf(response, 'x-auth-username'), 'theirs');
});

t.test('a name that is too long or taken (case-insensitively) still gets an account', async (t) => {
  const { signIn, folder, seenOf } = await start(t);
  await addUser(folder, { username: 'ALICE', password });
  const alice = await signIn({ sub: '1', preferred_username: 'alice' });
  t.equal(await seenOf(alice, 'x-auth-username'), 'alice%20(idp)');
  const name = 'x'.repeat(128);
  t.equal(await seenOf(await signIn({ sub: '2', preferred_username: name }), 'x-auth-username'), name);
  const second = await signIn({ sub: '3', preferred_username: name });
  t.equal(await seenOf(second, 'x-auth-username'), subjectOf(second));
  const email = `${'e'.repeat(200)}@example.com`;
  const addressed = await signIn({ sub: '4', email });
  t.equal(await seenOf(addressed, 'x-auth-username'), subjectOf(addressed));
});

t.test('an address that is not one, or not verified, is not taken, and the sign-in goes on', async (t) => {
  const { signIn, users } = await start(t);
  const emailAfter = async (claims: object) => {
    const id = subjectOf(await signIn(claims));
    return (await users()).find((user) => user.id === id)!.email;
  };
  const email = 'ceo@corp.example';
  t.equal(await emailAfter({ sub: 'm1', email, email_verified: true }), email);
  t.equal(await emailAfter({ sub: 'm2', email }), email);
  for (const email_verified of [false, 'false'])
    t.equal(await emailAfter({ sub: 'm3', email, email_verified }), null, JSON.stringify(email_verified));
  t.equal(await emailAfter({ sub: 'm4', email: `${email}, evil@example.com` }), null);
  t.equal(
    await emailAfter({ sub: 'm1', email, email_verified: false }),
    null,
    'one that was verified before',
  );
});

t.test('a local user of the same name is another person, until linked by command', async (t) => {
  const { signIn, api, folder, run, stub } = await start(t);
  const local = await addUser(folder, { username: 'alice', password, scopes: ['store:read'] });
  const claims = { sub: 'sub-of-alice', preferred_username: 'alice', email: 'alice@example.com' };
  const stranger = await signIn(claims);
  t.not(subjectOf(stranger), local.id);
  t.equal(stranger.json.scope, '');

  const link = ['--provider', 'idp', '--subject', 'sub-of-alice'];
  const taken = await run('user', 'link', 'alice', ...link);
  t.equal(taken.code, 1);
  t.match(taken.stderr, /^postern: that identity is another user's/);
  t.equal((await run('user', 'remove', 'alice (idp)')).code, 0);

  const linked = await run('user', 'link', 'alice', ...link, '--json');
  t.match(linked, { code: 0, json: { identities: [{ issuer: stub.origin, subject: 'sub-of-alice' }] } });
  const audited = { actor: { kind: 'command_line' }, subject: local.id, provider: 'idp' };
  t.match(linked.audit, [{ event: 'identity_linked', ...audited }]);
  const alice = await signIn(claims);
  t.equal(subjectOf(alice), local.id);
  t.equal(alice.json.scope, 'store:read');
  t.same((await run('user', 'list', '--json')).json[0].identities, [
    { provider: 'idp', issuer: stub.origin, subject: 'sub-of-alice' },
  ]);
  t.equal((await run('user', 'link', 'alice', ...link)).code, 0, 'linking again changes nothing');

  const unlinked = await run('user', 'unlink', 'alice', ...link);
  t.match(unlinked.audit, [
    { event: 'identity_unlinked', ...audited },
    { event: 'session_revoked', subject: local.id },
  ]);
  t.equal((await api.send({ path: '/api/asset', bearer: alice.json.access_token })).status, 401);
  t.not(subjectOf(await signIn(claims)), local.id);
  t.match(await run('user', 'unlink', 'alice', ...link), {
    code: 1,
    stderr: 'postern: "alice" has no such identity\n',
  });
  t.equal((await api.signIn('alice', password)).response.status, 200, 'the password is as it was');
});

t.test('linking asks for a user, a provider and a subject', async (t) => {
  const { run, folder } = await start(t);
  await addUser(folder, { username: 'alice', password });
  const rows: [string[], number, RegExp][] = [
    [['alice', '--provider', 'idp'], 2, /needs --subject\nusage: postern user link NAME --provider/],
    [['alice', '--subject', 'x'], 2, /needs --provider\n/],
    [['alice', '--provider', 'idp', '--subject', ' '], 2, /--subject must not be empty\n/],
    [['alice', '--provider', 'toString', '--subject', 'x'], 1, /no identity provider "toString"\n$/],
    [['bob', '--provider', 'idp', '--subject', 'x'], 1, /there is no user "bob"\n$/],
  ];
  for (const [args, code, says] of rows) {
    const result = await run('user', 'link', ...args);
    t.equal(result.code, code, args.join(' '));
    t.match(result.stderr, says);
  }
});

t.test('accounts: existing admits linked users, and creates none', async (t) => {
  const { signIn, folder, users, stub, auditLines } = await start(t, { accounts: 'existing' });
  const local = await addUser(folder, { username: 'alice', password });
  t.match(await signIn({ preferred_username: 'alice' }), notProvisioned);
  t.equal((await users()).length, 1);
  t.match(auditLines(), [
    {
      event: 'login_failed',
      outcome: 'failure',
      subject: null,
      provider: 'idp',
      provider_subject: 'alice-1',
      reason: 'no account',
    },
  ]);
  const subject = String(auditLines()[0]!.provider_subject);
  await withRecords(folder, (records) => linkIdentity(records, local.id, { issuer: stub.origin, subject }));
  t.equal(subjectOf(await signIn()), local.id);
});

t.test('a disabled user gets no session, and the response does not say why', async (t) => {
  const { signIn, folder, auditLines } = await start(t);
  const id = subjectOf(await signIn());
  await changeUser(folder, id, { disabled: true });
  const response = await signIn();
  t.match(response, notProvisioned);
  t.equal(response.headers['referrer-policy'], 'no-referrer');
  t.match(auditLines().at(-1), { event: 'login_failed', subject: id, reason: /^disabled$/ });
  await changeUser(folder, id, { disabled: false });
  t.equal((await signIn()).status, 200);
});

t.test('a required claim is a condition of every sign-in', async (t) => {
  const { signIn, users, auditLines } = await start(t, { require: { hd: 'example.com' } });
  t.match(await signIn({ hd: 'example.org' }), notProvisioned);
  t.match(await signIn(), notProvisioned);
  t.equal((await users()).length, 0);
  t.match(auditLines()[0], { event: 'login_failed', subject: null, reason: 'claim hd' });
  t.equal((await signIn({ hd: 'example.com' })).status, 200);
});

const grants = [
  { claim: 'groups', value: 'staff', scopes: ['store:read'] },
  { claim: 'groups', value: 'editors', scope_sets: ['editing', 'a set that is not there'] },
  { claim: 'groups', value: 'admins', scope_sets: ['administrator'] },
];

t.test('grants are re-evaluated at each sign-in, for existing sessions too', async (t) => {
  const { signIn, folder, api, logLines } = await start(t, { grants });
  await addScopeSet(folder, { id: 'set-1', name: 'editing', scopes: ['store:write'] });
  const asset = (response: ApiResponse, method = 'GET') =>
    api.send({ method, path: '/api/store/asset', bearer: response.json.access_token });

  const editor = await signIn({ groups: ['staff', 'editors'] });
  t.equal(editor.json.scope, 'store:read store:write');
  t.match(
    logLines().filter(({ level }) => level === 'warn'),
    [{ provider: 'idp', scope_set: 'a set that is not there', request_id: String }],
  );
  t.equal((await asset(editor, 'POST')).status, 200);

  const demoted = await signIn({ groups: ['staff'] });
  t.equal(subjectOf(demoted), subjectOf(editor));
  t.equal(demoted.json.scope, 'store:read');
  t.equal((await asset(editor, 'POST')).status, 403, 'the session from before lost it at once');
  t.equal((await asset(editor)).status, 200);

  const nobody = await signIn({ groups: [] });
  t.equal(nobody.json.scope, '');
  t.equal((await asset(editor)).status, 403);

  const admin = await signIn({ groups: 'admins' });
  t.match(admin.json.scope, /apikeys:write/);
  t.equal((await asset(editor, 'POST')).status, 200, 'and gains as fast');
});

t.test("an operator's grants stay beside the provider's", async (t) => {
  const { signIn, folder } = await start(t, { grants });
  const first = await signIn({ groups: ['staff'] });
  await changeUser(folder, subjectOf(first), { scopes: ['audit:read'] });
  t.equal((await signIn({ groups: ['staff'] })).json.scope, 'audit:read store:read');
  t.equal((await signIn()).json.scope, 'audit:read');
});

t.test('an account of a provider leaves the bootstrap open', async (t) => {
  const { signIn, api } = await start(t);
  await signIn();
  const response = await api.activate('ada', password, 'bootstrap-token-of-the-tests');
  t.equal(response.status, 201);
});

t.test('a service never signs in through a provider', async (t) => {
  const gateway = await start(t);
  const { signIn, folder, auditLines } = gateway;
  const { id, username } = await addUser(folder, { username: 'ci', password, kind: 'service' });
  const issuer = gateway.stub.origin;
  await withRecords(folder, (records) => linkIdentity(records, id, { issuer, subject: 'robot' }));
  const groups = { sub: 'robot', name: 'Another name' };
  t.match(await signIn(groups), notProvisioned, username);
  t.match(auditLines().at(-1), { event: 'login_failed', subject: id, reason: 'service' });
  const [found] = await gateway.users();
  t.match(found, { displayName: null, lastLogin: null });
});
