import t from 'tap';
import { meaning, meaningOf, normalisedName } from '../../src/http/header-names.ts';

t.test('names are compared in lower case with every other byte read as a hyphen', (t) => {
  t.equal(normalisedName('X_Auth.Subject'), 'x-auth-subject');
  t.equal(normalisedName('Content-Type2'), 'content-type2');
  t.end();
});

t.test('a name in any case is itself', (t) => {
  for (const name of ['Host', 'HOST', 'host', 'hOsT']) t.equal(meaningOf(name), meaning.host, name);
  for (const name of ['X-API-Key', 'x-api-key', 'X-Api-Key']) t.equal(meaningOf(name), meaning.apiKey, name);
  t.equal(meaningOf('Accept'), meaning.plain);
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
