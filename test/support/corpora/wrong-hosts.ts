import type { WrongConfiguration } from './wrong-configuration.ts';

const web = 'web: {}\n';
const routesOfWiki = (...routes: string[]) =>
  `upstreams: { app: { url: "http://127.0.0.1:9000" } }\nroutes:\n${routes.map((route) => `  - { ${route}, upstream: app }\n`).join('')}`;
const ofWiki = 'host: wiki.acme.example.com';

/** Values of and about `hosts` that are wrong, by themselves or beside others. */
export const wrongHosts: readonly WrongConfiguration[] = [
  ['hosts without pages', 'hosts: [https://wiki.acme.example.com]', '1:1: hosts: requires web'],
  [
    'a host by its name alone',
    `${web}hosts: [wiki.acme.example.com]`,
    '2:9: hosts[0]: must be an http:// or https:// URL (wiki.acme.example.com)',
  ],
  [
    'a host with a slash at its end',
    `${web}hosts: [https://wiki.acme.example.com/]`,
    '2:9: hosts[0]: must not have a slash at its end (https://wiki.acme.example.com/)',
  ],
  [
    'a wildcard for a part of a label',
    `${web}hosts: ["https://wiki-*.acme.example.com"]`,
    '2:9: hosts[0]: can have * for the whole first label alone, such as https://*.preview.example.com (https://wiki-*.acme.example.com)',
  ],
  [
    'a host of another scheme than base_url',
    `${web}hosts: [http://wiki.localhost]`,
    '2:9: hosts[0]: must be https://, as base_url is (http://wiki.localhost)',
  ],
  [
    'a host with the name of base_url',
    `${web}hosts: [https://acme.example.com:8443]`,
    '2:9: hosts[0]: has the name of base_url, and cookies know no ports: use another name (https://acme.example.com:8443)',
  ],
  [
    'a host with the name of the console',
    'web: { console: { base_url: https://console.example.com } }\nhosts: [https://console.example.com:8443]',
    '2:9: hosts[0]: has the name of web.console.base_url, and cookies know no ports: use another name (https://console.example.com:8443)',
  ],
  [
    'two hosts of one name',
    `${web}hosts: [https://wiki.acme.example.com, https://wiki.acme.example.com:8443]`,
    '2:40: hosts[1]: has the name of hosts[0], and cookies know no ports: use another name (https://wiki.acme.example.com:8443)',
  ],
  [
    'hosts over http that other machines reach',
    'tenant: acme\nbase_url: http://gate.localhost\nweb: {}\nhosts: [http://wiki.acme.example.com]',
    "4:9: hosts[0]: must be https:// unless on loopback: over http, browsers don't say which page makes a request (http://wiki.acme.example.com)",
  ],
  [
    'hosts beside a base_url over http that other machines reach',
    'tenant: acme\nbase_url: http://acme.example.com\nweb: {}\nhosts: [http://wiki.localhost]',
    "2:11: base_url: must be https:// while there are hosts, unless on loopback: over http, browsers don't say which page makes a request (http://acme.example.com)",
  ],
  [
    'a route of a host that is misspelt',
    `${web}hosts: [https://wiki.acme.example.com]\n${routesOfWiki('host: wkii.acme.example.com, prefix: /')}`,
    '5:13: routes[0].host: must be the name in an entry of hosts: did you mean "wiki.acme.example.com"? (wkii.acme.example.com)',
  ],
  [
    'a route of a host where there are none',
    routesOfWiki(`${ofWiki}, prefix: /`),
    '3:7: routes[0].host: requires hosts',
  ],
  [
    'two routes of one host and path',
    `${web}hosts: [https://wiki.acme.example.com]\n${routesOfWiki('prefix: /a', `${ofWiki}, prefix: /a`, `${ofWiki}, prefix: /a/`)}`,
    '7:44: routes[2].prefix: duplicates routes[1].prefix (/a/)',
  ],
  [
    'a route of a host in the area of the pages',
    `${web}hosts: [https://wiki.acme.example.com]\n${routesOfWiki(`${ofWiki}, prefix: /postern/enter`)}`,
    '5:44: routes[0].prefix: is in /postern, which Postern serves itself (/postern/enter)',
  ],
  [
    'decisions for browsers without pages',
    'forward_auth: [{ mode: nginx, browser: true }]',
    '1:31: forward_auth[0].browser: requires web',
  ],
  [
    'decisions for browsers through ingress-nginx',
    `${web}forward_auth: [{ mode: ingress_nginx, browser: true }]`,
    "2:48: forward_auth[0].browser: can't be true for ingress_nginx, whose auth-signin makes a redirect of every 401, those of programs too (true)",
  ],
  [
    'a provider with the name of a path',
    'identity_providers: { passkey: { issuer: https://idp.example, client_id: a, redirect_uri: https://a.example/ } }',
    "1:23: identity_providers.passkey: is reserved: a provider can't be named access-token, refresh-token, invitation, token, revoke, register, device, passkey, client or password",
  ],
];
