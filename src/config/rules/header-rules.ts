import { credentialNames, isReservedName, normalisedName } from '../../rules/known-headers.ts';
import { identityLists, isClaim, nameOfClaim } from '../sections/identity-headers.ts';
import { fixedHeaders, identityHeaders, type Rule } from './rule.ts';

const reserved = 'is a name that Postern checks, sets or drops';

// A header that decides about framing, target or credentials can't also identify the caller.
const identityNamesAreFree: Rule = (config, { report }) => {
  for (const { path, name } of identityHeaders(config))
    if (isReservedName(name)) report(path, reserved, 'key');
};

const fixedNamesAreFree: Rule = (config, { report }) => {
  for (const { path, name } of fixedHeaders(config))
    if (isReservedName(name) && !credentialNames.has(normalisedName(name))) report(path, reserved, 'key');
};

const namesDiffer: Rule = (config, { report }) => {
  const seen = new Map<string, string>();
  for (const { path, upstream, name } of [...identityHeaders(config), ...fixedHeaders(config)]) {
    const spelling = JSON.stringify([upstream, normalisedName(name)]);
    const section = String(path.at(-2));
    const other = seen.get(spelling);
    if (other !== undefined)
      report(path, other === section ? 'is a duplicate in another spelling' : `is in ${other}, too`, 'key');
    else seen.set(spelling, section);
  }
};

const lists: ReadonlySet<string> = new Set(identityLists);

// Such a header would never be sent.
const claimsAreKept: Rule = (config, { report, isWritten }) => {
  const kept = new Set(
    Object.values(config.identity_providers ?? {}).flatMap((provider) => Object.keys(provider?.keep ?? {})),
  );
  for (const { path, value } of identityHeaders(config))
    if (value.from !== undefined && isClaim(value.from) && !kept.has(nameOfClaim(value.from)))
      report(
        isWritten([...path, 'from']) ? [...path, 'from'] : path,
        `is kept by no provider: add ${nameOfClaim(value.from)} to identity_providers.NAME.keep`,
      );
};

// Only a list may have several of the names, or none.
const choicesAreOfLists: Rule = (config, { report, isWritten }) => {
  for (const { path, value } of identityHeaders(config)) {
    const isList = value.from === undefined || lists.has(value.from) || isClaim(value.from);
    if ('first' in value && value.first !== undefined && !isList)
      report([...path, 'first'], `requires from: ${identityLists.join(', ')} or claim:NAME`, 'key');
    if ('else' in value && value.else !== undefined && !isWritten([...path, 'first']))
      report([...path, 'else'], 'requires first', 'key');
  }
};

// The echo would send the secrets back to anyone who asks.
const echoHasNoSecrets: Rule = ({ upstreams = {} }, { report }) => {
  for (const [name, upstream] of Object.entries(upstreams))
    if (upstream?.url?.kind === 'echo' && Object.keys(upstream.headers ?? {}).length > 0)
      report(['upstreams', name, 'headers'], "can't be combined with builtin:echo, which shows them", 'key');
};

// The service would get two, or one in the other's place.
const applicationsHaveTheirOwn: Rule = ({ routes = [], upstreams = {} }, { report }) => {
  const credited = new Map<string, string>();
  for (const { upstream, name } of fixedHeaders({ upstreams }))
    if (credentialNames.has(normalisedName(name))) credited.set(upstream, name);
  for (const [index, route] of routes.entries()) {
    const name = route?.authorization === 'pass' ? credited.get(route.upstream ?? '') : undefined;
    if (name !== undefined)
      report(
        ['routes', index, 'authorization'],
        `can't be combined with ${name} in upstreams.${route?.upstream}.headers`,
      );
  }
};

/** Rules for the names of headers that Postern sends to upstreams. */
export const headerRules: readonly Rule[] = [
  identityNamesAreFree,
  fixedNamesAreFree,
  namesDiffer,
  claimsAreKept,
  choicesAreOfLists,
  echoHasNoSecrets,
  applicationsHaveTheirOwn,
];

// The service takes everyone who uses such a route for the one whom the header names.
const publicRoutesHaveNoCredential: Rule = ({ routes = [], upstreams = {} }, { report }) => {
  const credited = new Set<string>();
  for (const { upstream, name } of fixedHeaders({ upstreams }))
    if (normalisedName(name) === 'authorization') credited.add(upstream);
  for (const [index, route] of routes.entries())
    if (route?.public === true && route.upstream !== undefined && credited.has(route.upstream))
      report(
        ['routes', index, 'public'],
        `lets anyone use the Authorization of upstreams.${route.upstream}.headers: the service takes everyone for its owner`,
      );
};

/** Warnings about headers that Postern sends to upstreams. */
export const headerWarnings: readonly Rule[] = [publicRoutesHaveNoCredential];
