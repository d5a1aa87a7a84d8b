import { type Row, testRows } from './config-rows.ts';

const own = (key: string, url: string) =>
  `is Postern's own address (${key}): requests would come back (${url})`;

const rows: Row[] = [
  [
    'an upstream that is the public listener, however written',
    `upstreams:
  a: { url: »http://127.0.0.1:8080 }
  b: { url: »https://localhost:8080 }
  c: { url: »"http://[::ffff:127.0.0.1]:8080" }
  d: { url: »http://0.0.0.0:8080 }
  e: { url: »http://127.1.2.3:8080 }
  f: { url: »http://APP.localhost:8080 }
  g: { url: http://127.0.0.1:8081 }
  h: { url: "http://[::1]:8080" }
  i: { url: http://app.internal:8080 }
  j: { url: unix:/run/app.sock }`,
    `upstreams.a.url: ${own('listen', 'http://127.0.0.1:8080')}`,
    `upstreams.b.url: ${own('listen', 'https://localhost:8080')}`,
    `upstreams.c.url: ${own('listen', 'http://[::ffff:127.0.0.1]:8080')}`,
    `upstreams.d.url: ${own('listen', 'http://0.0.0.0:8080')}`,
    `upstreams.e.url: ${own('listen', 'http://127.1.2.3:8080')}`,
    `upstreams.f.url: ${own('listen', 'http://APP.localhost:8080')}`,
  ],
  [
    'an upstream that is a listener of both versions of IP',
    'listen: { host: "::", port: 80 }\nupstreams: { a: { url: »"http://[::1]" }, b: { url: »http://127.0.0.1 } }',
    `upstreams.a.url: ${own('listen', 'http://[::1]')}`,
    `upstreams.b.url: ${own('listen', 'http://127.0.0.1')}`,
  ],
  [
    'an upstream that is the management listener, or one for decisions',
    `management: { host: localhost }
forward_auth: [{ mode: nginx, host: 10.0.0.1 }, { mode: envoy, host: gateway.internal, port: 9001 }]
upstreams:
  a: { url: »http://127.0.0.1:9090 }
  b: { url: »http://10.0.0.1:8081 }
  c: { url: »http://Gateway.internal:9001 }
  d: { url: http://10.0.0.2:8081 }`,
    `upstreams.a.url: ${own('management', 'http://127.0.0.1:9090')}`,
    `upstreams.b.url: ${own('forward_auth[0]', 'http://10.0.0.1:8081')}`,
    `upstreams.c.url: ${own('forward_auth[1]', 'http://Gateway.internal:9001')}`,
  ],
  [
    'an upstream on the port of a listener with another address, or with one that the system chooses',
    `listen: { host: 127.0.0.2, port: 9000 }
management: { host: 127.0.0.1, port: 0 }
upstreams: { a: { url: http://127.0.0.1:9000 }, b: { url: http://127.0.0.1:9090 } }`,
  ],
];

testRows(rows);
