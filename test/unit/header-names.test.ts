import t from 'tap';
import { createPassedMeaning, type HeaderRules, meaning, meaningOf } from '../../src/http/header-names.ts';
import { laterNames, normalisedName } from '../../src/rules/known-headers.ts';

t.test('names are compared in lower case with every other byte read as a hyphen', (t) => {
  t.equal(normalisedName('X_Auth.Subject'), 'x-auth-subject');
  t.equal(normalisedName('Content-Type2'), 'content-type2');
  t.end();
});

t.test('a name in any case is itself', (t) => {
  for (const name of ['Host', 'HOST', 'host', 'hOsT']) t.equal(meaningOf(name), meaning.host, name);
  for (const name of ['X-API-Key', 'x-api-key', 'X-Api-Key'])
    t.equal(meaningOf(name), meaning['x-api-key'], name);
  t.equal(meaningOf('Accept-Language'), meaning.plain);
  t.equal(meaningOf('X-Authority'), meaning.plain, 'only the whole prefix counts');
  t.equal(meaningOf('X-Author-Name'), meaning.plain);
  t.end();
});

t.test('an odd spelling of a header that Postern sets or judges is dropped', (t) => {
  const rows = [
    'Content_Length',
    'Transfer_Encoding',
    'Transfer.Encoding',
    'X_Api_Key',
    'X-API_Key',
    'X_Request_Id',
    'X-Request.Id',
    'Content_Type',
    'User_Agent',
    'Sec_Fetch_Site',
    'Access_Control_Request_Method',
  ];
  for (const name of rows) t.equal(meaningOf(name), meaning.dropped, name);
  t.end();
});

t.test('identity and forwarding headers are dropped in every spelling', (t) => {
  const rows = [
    'X-Auth-Subject',
    'x-auth-anything',
    'X_Auth_Subject',
    'X-Auth_Subject',
    'X.Auth.Subject',
    'X~Auth~Subject',
    "X'Auth'Subject",
    'X|Auth|Subject',
    'x!auth!scopes',
    'X-AUTH-',
    ...laterNames.flatMap((name) => [name, name.toLowerCase(), name.replaceAll('-', '_')]),
    'Proxy',
    'Forwarded',
    'FORWARDED',
    'X-Real-IP',
    'X_Real_IP',
    'X-Forwarded-Port',
    'X_Forwarded_For',
    'X-Forwarded_Proto',
    'X-Forwarded-Prefix',
    'Keep-Alive',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'HTTP2-Settings',
    'Proxy-Authorization',
  ];
  for (const name of rows) t.equal(meaningOf(name), meaning.dropped, name);
  t.end();
});

t.test('any number of spellings is judged right', (t) => {
  for (let i = 0; i < 10_000; i++) meaningOf(`X-Flood-${i}`);
  t.equal(meaningOf('x-AuTh-SuBjEcT'), meaning.dropped);
  t.equal(meaningOf(`X-Auth-${'a'.repeat(1_000)}`), meaning.dropped);
  t.equal(meaningOf('hoST'), meaning.host);
  t.end();
});

const strict = { passOddNames: false, passMethodOverride: false, dropped: [] };

/** Which of the names reach an upstream. */
const passing = (names: readonly string[], rules: Partial<HeaderRules> = {}) => {
  const passedMeaning = createPassedMeaning({ ...strict, ...rules });
  return names.filter((name) => passedMeaning(name) !== meaning.dropped);
};

t.test(
  'headers that servers take for mount point, target or user are dropped in every spelling and by every rule',
  (t) => {
    const names = [
      ...['SCRIPT_NAME', 'Script-Name', 'script.name', 'PATH_INFO', 'Path-Info', 'Daphne-Root-Path'],
      ...['daphne_root_path', 'X-Script-Name', 'X_SCRIPT_NAME', 'X-Original-URL', 'X-Original-Uri'],
      ...[
        'X_Original_URL',
        'X-Original-Method',
        'X-Original-Host',
        'X-Rewrite-URL',
        'X-Rewrite_Url',
        'Remote-User',
      ],
      ...['REMOTE_USER', 'X-Remote-User', 'x_remote_user', 'Remote-Addr', 'REMOTE_ADDR'],
    ];
    t.same(passing(names), []);
    t.same(passing(names, { passOddNames: true, passMethodOverride: true }), []);
    t.same(passing(['X-Script', 'Script', 'Remote-Users', 'X-Original', 'Original-URL']).length, 5);
    t.end();
  },
);

t.test('odd names are dropped unless they may pass; odd spellings of judged ones never pass', (t) => {
  const odd = ['X_Custom', 'X.Custom', 'X-Cust~om', "It's", 'a|b', 'x!', '_'];
  const judged = [
    'Content_Type',
    'X_Auth_Subject',
    'X.Forwarded.For',
    'Transfer_Encoding',
    'TE_',
    'X_Api_Key',
  ];
  t.same(passing([...odd, ...judged]), []);
  t.same(passing([...odd, ...judged], { passOddNames: true }), [...odd, 'TE_']);
  t.same(passing(['X-Custom', 'x1-2', '1']), ['X-Custom', 'x1-2', '1']);
  t.end();
});

t.test('the parameters of MCP pass whatever characters their names have', (t) => {
  const names = [
    'Mcp-Param-user_id',
    'mcp-param-A.b',
    'MCP-PARAM-x!',
    'Mcp-Param-Plain',
    'Mcp-Param-_',
    'Mcp-Param-',
  ];
  t.same(passing(names), names);
  t.same(passing(['Mcp_Param-a', 'Mcp-Param_a', 'Mcp-Params_a', 'X-Mcp-Param-a_b']), []);
  t.same(passing(names, { dropped: ['Mcp-Param-A-B', 'mcp_param_plain'] }), [
    'Mcp-Param-user_id',
    'MCP-PARAM-x!',
    'Mcp-Param-_',
    'Mcp-Param-',
  ]);
  t.end();
});

t.test('method overrides are dropped unless they may pass, as they are spelled', (t) => {
  const names = ['X-HTTP-Method', 'X-HTTP-Method-Override', 'x-method-override'];
  t.same(passing(names), []);
  t.same(passing(names, { passMethodOverride: true }), names);
  const odd = ['X_HTTP_Method', 'X-HTTP-Method_Override', 'X.Method.Override'];
  t.same(passing(odd, { passMethodOverride: true, passOddNames: true }), []);
  t.end();
});

t.test('names that the configuration drops go in every spelling, whatever they mean', (t) => {
  const dropped = ['X-Accel-Mapping', 'COOKIE', 'x_custom', 'X-HTTP-Method'];
  const names = ['x-accel-mapping', 'X_Accel_Mapping', 'Cookie', 'X-Custom', 'X.Custom', 'X-HTTP-Method'];
  t.same(passing(names, { dropped, passOddNames: true, passMethodOverride: true }), []);
  t.same(passing(names), ['x-accel-mapping', 'Cookie', 'X-Custom']);
  t.end();
});

t.test('an application’s own names pass beside Postern’s, in that spelling alone', (t) => {
  const names = [
    'X-Auth-Token',
    'x-auth-token',
    'X_Auth_Token',
    'X-Auth_Token',
    'X-Auth-Tokens',
    'X-Auth-Subject',
  ];
  t.same(passing(names, { passed: ['x-AUTH-token'] }), ['X-Auth-Token', 'x-auth-token']);
  t.same(passing(names, { passed: ['X-Auth-Token'], passOddNames: true }), ['X-Auth-Token', 'x-auth-token']);
  t.same(passing(names, { passed: ['X-Auth-Token'], dropped: ['x_auth_token'] }), []);
  t.end();
});

t.test('a name stands for the same at any number of spellings by a configuration too', (t) => {
  const passedMeaning = createPassedMeaning({ ...strict, dropped: ['X-Mine'] });
  for (let i = 0; i < 10_000; i++) passedMeaning(`X-Flood-${i}`);
  t.equal(passedMeaning('x_mine'), meaning.dropped);
  t.equal(passedMeaning('x-MINE'), meaning.dropped);
  t.equal(passedMeaning('Accept-Language'), meaning.plain);
  t.equal(passedMeaning('Cookie'), meaning.cookie);
  t.end();
});
