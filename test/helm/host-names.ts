/** Names that an origin may have, and whether the API server takes them. */
export const namesOfHosts: readonly { name: string; inIngress: boolean; inRoute: boolean }[] = [
  { name: 'wiki.acme.example.com', inIngress: true, inRoute: true },
  { name: '*.preview.acme.dev', inIngress: true, inRoute: true },
  { name: '*.dev', inIngress: true, inRoute: true },
  { name: 'wiki', inIngress: true, inRoute: true },
  { name: 'xn--bcher-kva.example', inIngress: true, inRoute: true },
  { name: 'a-1.2.example', inIngress: true, inRoute: true },
  { name: '192.0.2.7', inIngress: false, inRoute: true },
  { name: '[2001:db8::1]', inIngress: false, inRoute: false },
  { name: 'my_wiki.acme.example.com', inIngress: false, inRoute: false },
  { name: '-wiki.acme.example.com', inIngress: false, inRoute: false },
  { name: 'wiki-.acme.example.com', inIngress: false, inRoute: false },
];
