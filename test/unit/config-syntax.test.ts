import { type Row, requiredAndRoute, testRows } from './config-rows.ts';

const syntax: Row[] = [
  ['a list in place of the map', '»- tenant: acme', 'configuration: must be a map'],
  [
    'an empty file lacks what is required',
    '»# tenant: acme\n',
    'configuration: is empty: "postern init" writes a first one',
    'tenant: is required',
    'base_url: is required',
    'routes: is required',
  ],
  ['a file of comments and one key lacks the other', '# here\n\n»tenant: acme', 'base_url: is required'],
  [
    'a second document',
    `${requiredAndRoute}»---\n${requiredAndRoute}`,
    'configuration: must be one YAML document',
  ],
  [
    'a tab as indentation',
    'log:\n»\tlevel: info',
    'configuration: is not valid YAML: tab as indentation, use spaces',
  ],
  [
    'a quote left open',
    'tenant: acme\nbootstrap: { token: "geheim }»',
    'configuration: is not valid YAML: unclosed quote or bracket',
    'configuration: is not valid YAML: wrong indentation, or a { or [ above is not closed',
  ],
  [
    'a text with a colon in it',
    'stores: »records: sqlite:x',
    'configuration: is not valid YAML: a string that contains ": " needs quotes',
  ],
  [
    'a secret that begins with @',
    'bootstrap: { token: »@geheimgeheimgeheimgeheim }',
    'configuration: is not valid YAML: a string that starts with this character needs quotes',
  ],
  [
    'a secret that begins with ! and is taken for a tag',
    'bootstrap: { token: »!geheim geheimgeheimgeheimgeheim }',
    'configuration: YAML tags are not supported: a string that starts with ! needs quotes',
  ],
  [
    'an alias without an anchor',
    'tokens: { algorithm: »*geheim }',
    'tokens.algorithm: must refer to an anchor above it; put a text that begins with * in quotes',
  ],
  ['a merge key', 'log:\n  »<<: { level: info }', 'log.<<: merge keys are not supported'],
  [
    'a merge key where names are free',
    'upstreams: { app: { url: builtin:echo }, »<<: { b: { url: builtin:echo } } }',
    'upstreams.<<: merge keys are not supported',
  ],
  ['a duplicate key', 'log: { level: info }\nlisten: {}\n»log: { level: warn }', 'log: duplicate key'],
  ['a duplicate key in a flow map', 'log: { level: info, »level: info }', 'log.level: duplicate key'],
  ['a duplicate key in two spellings', 'scopes: { 1: one, »"1": one }', 'scopes.1: duplicate key'],
  [
    'a duplicate key whose first value is bad too',
    'log: { level: »loud, »level: info }',
    'log.level: must be one of trace, debug, info, warn, error, fatal, silent (loud)',
    'log.level: duplicate key',
  ],
  ['a map as a key', '»{ a: b }: c', 'configuration: must have plain keys'],
  ['nothing as a key', 'scopes: { »~: x }', 'scopes: must have plain keys'],
  [
    'a key that would reach the prototype',
    'upstreams: { app: { url: builtin:echo }, »__proto__: { url: builtin:echo } }',
    'upstreams.__proto__: unknown key',
  ],
];

const outside: Row[] = [
  [
    'a variable that is not set',
    'bootstrap: { token: »{ env: MISSING } }',
    'bootstrap.token: environment variable MISSING is not set',
  ],
  [
    'a required variable that is not set is reported once',
    'tenant: »{ env: MISSING }\nbase_url: https://a.example',
    'tenant: environment variable MISSING is not set',
  ],
  [
    'a required variable that is optional and not set',
    '»tenant: { env: MISSING, optional: true }\nbase_url: https://a.example',
    'tenant: is required',
  ],
  [
    'a variable in a list that is not set',
    'trusted_proxies: [»{ env: MISSING }, »x]',
    'trusted_proxies[0]: environment variable MISSING is not set',
    'trusted_proxies[1]: must be an IP address or a CIDR block (x)',
  ],
  [
    'a name inherited by every object',
    'bootstrap: { token: »{ env: toString } }',
    'bootstrap.token: environment variable toString is not set',
  ],
  [
    'a missing file',
    'bootstrap: { token: »{ file: missing } }',
    "bootstrap.token: file missing can't be read: no such file (ENOENT)",
  ],
  [
    'a folder in place of a file',
    'bootstrap: { token: »{ file: . } }',
    "bootstrap.token: file . can't be read: it is a folder (EISDIR)",
  ],
  [
    'a secret in place of a variable’s name, which is not shown',
    'bootstrap: { token: »{ env: geheim-geheim } }',
    'bootstrap.token: env must be the name of an environment variable',
  ],
  [
    'a variable and a file',
    'bootstrap: { token: »{ env: LONG, file: x } }',
    'bootstrap.token: must have env or file, not both',
  ],
  [
    'a misspelt option',
    'bootstrap: { token: { env: LONG, »optinal: true } }',
    'bootstrap.token.optinal: unknown key: did you mean "optional"?',
  ],
  [
    'an option that isn’t a boolean',
    'bootstrap: { token: »{ env: LONG, optional: yes } }',
    'bootstrap.token: optional must be true or false',
  ],
  [
    'a value from outside that breaks its rule is not shown',
    'bootstrap: { token: »{ env: SHORT } }',
    'bootstrap.token: must be at least 20 characters (from environment variable SHORT)',
  ],
  [
    'a word from outside where a number is wanted',
    'listen: { port: »{ env: WORD } }',
    'listen.port: must be a whole number from 0 to 65535 (from environment variable WORD)',
  ],
  ['a variable in place of a list', 'trusted_proxies: »{ env: LONG }', 'trusted_proxies: must be a list'],
];

testRows([...syntax, ...outside]);
