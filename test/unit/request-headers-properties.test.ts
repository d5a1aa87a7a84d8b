import assert from 'node:assert/strict';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { createPassedMeaning } from '../../src/http/header-names.ts';
import { readRequestHead } from '../../src/http/request-head.ts';
import { FieldBlock, FieldList } from '../../src/http1/message/head-text.ts';
import {
  type Forwarding,
  writeCleanedHeaders,
  writeIdentifyingHeaders,
  writeRequestHeaders,
} from '../../src/proxy/request-headers.ts';
import { folded, identityHeaders, isProtected } from '../support/corpora/our-headers.ts';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00';
const forwarding: Forwarding = {
  identity: new FieldBlock([
    ...['X-Auth-Subject', 'u1', 'X-Auth-Username', 'ada', 'X-Auth-Method', 'api_key', 'X-Auth-Scopes', ''],
    ...['X-Auth-Key-Id', 'k1', 'X-Auth-Tenant', 'acme'],
  ]),
  fixed: null,
  host: 'gateway.example',
  requestId: 'id-1',
  peer: '192.0.2.1',
  encrypted: true,
  fromTrustedProxy: false,
  via: 'this-gateway',
  strippedPrefix: '',
  passedMeaning: createPassedMeaning({ passOddNames: false, passMethodOverride: false, dropped: [] }),
  ownCookies: { names: ['refresh'], prefixes: [] },
  passesAuthorization: false,
  passesApiKey: false,
  withoutCredentials: false,
  upgrade: null,
  traceparent,
};
/** What Postern says, whatever the client said. */
const ours = [
  ...forwarding.identity!.fields,
  ...['X-Request-Id', 'id-1', 'X-Forwarded-For', '192.0.2.1', 'X-Forwarded-Proto', 'https'],
  ...['traceparent', traceparent, 'Postern-Via', 'this-gateway', 'X-Forwarded-Host', 'gateway.example'],
];

const marks = fc.constantFrom(...["-_.!#$%&'*+^`|~"].flatMap((text) => [...text]));
/** Headers that are never the client's to say, beside the identity ones. */
const others = [
  ...['X-Auth-Roles', 'X-Forwarded-Port', 'X-Real-IP', 'Forwarded', 'Proxy', 'Authorization', 'X-API-Key'],
  ...['TE', 'Trailer', 'Keep-Alive', 'Proxy-Connection', 'Proxy-Authorization', 'HTTP2-Settings', 'Expect'],
];
const protectedName = fc
  .tuple(fc.constantFrom(...identityHeaders, ...others), fc.infiniteStream(fc.tuple(fc.boolean(), marks)))
  .map(([name, choices]) => [...name].map((character) => spelled(character, choices.next().value)).join(''));

function spelled(character: string, [isUpper, mark]: [boolean, string]): string {
  if (character === '-') return mark;
  return isUpper ? character.toUpperCase() : character.toLowerCase();
}

const tokenCharacters = [..."abcXYZ019-_.!#$%&'*+^`|~"];
/** Names that Postern neither sets nor judges, though some look much like one that it does. */
const ordinaryName = fc
  .oneof(
    fc.constantFrom(
      'Accept',
      'X-Author',
      'XAuth-Subject',
      'X-Auth',
      'X--Auth-Subject',
      'Auth-Subject',
      'Range',
    ),
    fc.string({ unit: fc.constantFrom(...tokenCharacters), minLength: 1, maxLength: 12 }),
  )
  .filter((name) => !isProtected(name));
const value = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
});
const connection = fc
  .array(fc.oneof(protectedName, ordinaryName, fc.constantFrom('close', '', 'Accept', 'x_author')))
  .map((names) => ['Connection', names.join(', ')] as const);
const field = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(protectedName, value) },
  { weight: 3, arbitrary: fc.tuple(ordinaryName, value) },
  { weight: 1, arbitrary: connection },
);
/** A raw header list with a credential somewhere in it. */
const rawHeaders = fc
  .tuple(fc.array(field), fc.array(field))
  .map(([before, after]) => [...before, ['Host', 'gateway.example'], ...after].flat() as string[]);

/** Names and values in turn, as pairs. */
function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
}

/** What no upstream is told although Postern neither sets nor judges it. */
const isOdd = (name: string) => /[^A-Za-z0-9-]/.test(name);

/** What the contract leaves of a raw list, step by step. */
function leftOver(raw: readonly string[]): [string, string][] {
  const all = pairs(raw);
  const named = new Set(
    all
      .filter(([name]) => name === 'Connection')
      .flatMap(([, list]) => list.split(',').map((one) => folded(one.trim()))),
  );
  const withoutHopByHop = all.filter(([name]) => name !== 'Connection' && !named.has(folded(name)));
  return withoutHopByHop.filter(([name]) => !isProtected(name) && !isOdd(name));
}

function written(write: (into: FieldList) => void): string[] {
  const list = new FieldList();
  write(list);
  return list.fields;
}

/** Whether it holds for every raw list; a failure shows the shortest that it doesn't hold for. */
function holds(t: Test, property: (raw: string[]) => void): void {
  fc.assert(fc.property(rawHeaders, property), { numRuns: 500 });
  t.end();
}

t.test('cleaning leaves what is the client’s to say, byte for byte, and nothing else', (t) =>
  holds(t, (raw) => {
    assert.deepEqual(
      pairs(written((list) => writeCleanedHeaders(readRequestHead(raw), forwarding, list))),
      leftOver(raw),
    );
  }),
);

t.test('cleaning what is clean changes nothing', (t) =>
  holds(t, (raw) => {
    const once = written((list) => writeCleanedHeaders(readRequestHead(raw), forwarding, list));
    assert.deepEqual(
      written((list) => writeCleanedHeaders(readRequestHead(once), forwarding, list)),
      once,
    );
  }),
);

t.test('Postern’s own headers do not depend on those of an untrusted client', (t) =>
  holds(t, (raw) => {
    assert.deepEqual(
      written((list) => writeIdentifyingHeaders(readRequestHead(raw), forwarding, list)),
      ours,
    );
  }),
);

t.test('a trusted proxy adds where the request came from, and nothing about who is calling', (t) =>
  holds(t, (raw) => {
    const trusted = { ...forwarding, fromTrustedProxy: true };
    const said = pairs(written((list) => writeIdentifyingHeaders(readRequestHead(raw), trusted, list)));
    const isOfCaller = ([name]: [string, string]) => !name.startsWith('X-Forwarded-');
    assert.deepEqual(said.filter(isOfCaller), pairs(ours).filter(isOfCaller));
    assert.deepEqual(
      said.filter((pair) => !isOfCaller(pair)).map(([name]) => name),
      ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host'],
    );
    assert.match(said.find(([name]) => name === 'X-Forwarded-For')![1], /(?:^|, )192\.0\.2\.1$/);
  }),
);

t.test('the upstream gets each of Postern’s own headers exactly once, and it is ours', (t) =>
  holds(t, (raw) => {
    const isSaid = ([name]: [string, string]) => isProtected(name) && folded(name) !== 'traceparent';
    const sent = pairs(written((list) => writeRequestHeaders(readRequestHead(raw), forwarding, list)));
    assert.deepEqual(sent.filter(isSaid), [['Host', 'gateway.example'], ...pairs(ours).filter(isSaid)]);
    assert.equal(sent.filter(([name]) => folded(name) === 'traceparent').length, 1);
  }),
);
