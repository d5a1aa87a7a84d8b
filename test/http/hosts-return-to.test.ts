import t from 'tap';
import { returnToFamilies } from '../support/corpora/return-to-values.ts';
import { shownText } from '../support/corpora/shown-text.ts';
import { base, createHostBrowser, startHostsGateway, wiki } from '../support/pages/hosts.ts';

t.setTimeout(120_000);

/** The address of the sign-in page towards a place, with a start of one's own. */
const signInAt = (place: string, start: string) =>
  `${base}/postern/sign-in?return_to=${encodeURIComponent(place)}&start=${start}`;

/** Values of `return_to` whose origins only look like ours. */
function lookalikes(): readonly string[] {
  const name = 'wiki.acme.example.com';
  const origins = [
    `http://${name}`,
    `HTTPS://${name}`,
    `https:/${name}`,
    `https:${name}`,
    `//${name}`,
    `https:///${name}`,
    `https:\\\\${name}`,
    `https://${name}:443`,
    `https://${name}:8443`,
    `https://${name}:`,
    `https://${name}.`,
    `https://${name}..`,
    `https://.${name}`,
    `https://WIKI.acme.example.com`,
    `https://${name}\\`,
    `https://${name}%2f`,
    `https://${name}%00`,
    `https://${name}\t`,
    `https://${name} `,
    ` https://${name}`,
    `\thttps://${name}`,
    `https://ada@${name}`,
    `https://ada:x@${name}`,
    `https://@${name}`,
    `https://${name}@evil.example`,
    `https://${name}:x@evil.example`,
    `https://${name}.evil.example`,
    `https://evil.example/${name}`,
    `https://evil.example?${name}`,
    `https://evil.example#${name}`,
    `https://evil.example\\@${name}`,
    `https://x${name}`,
    `https://x.${name}`,
    `https://acme.example.com`,
    `https://console.acme.example.com`,
    `https://preview.acme.dev`,
    `https://.preview.acme.dev`,
    `https://*.preview.acme.dev`,
    `https://a.b.preview.acme.dev`,
    `https://A.preview.acme.dev`,
    `https://a%2e.preview.acme.dev`,
    `https://a@.preview.acme.dev`,
    `https://evil.example/.preview.acme.dev`,
    `https://${'a'.repeat(64)}.preview.acme.dev`,
    `https://\u0430.preview.acme.dev`,
    `https://a.preview.acme.dev:444`,
    `https://a.preview.acme.dev.`,
    `https://a.xpreview.acme.dev`,
    `https://w\u0131ki.acme.example.com`,
    `https://wiki.acme.example\u3002com`,
    `https://wiki\uff0eacme.example.com`,
    `https://127.0.0.1`,
    `https://[::1]`,
    `javascript://${name}`,
    `data:text/html,${name}`,
    `ftp://${name}`,
    `wss://${name}`,
    `blob:https://${name}`,
    `view-source:https://${name}`,
    'https://',
    'https:',
  ];
  const good = [`https://${name}`, 'https://a.preview.acme.dev'];
  const badPaths = [
    '',
    '?a',
    '#a',
    '//a',
    '/\\a',
    '/a//b',
    '/a\\b',
    '/a\tb',
    '/a\u0000b',
    '/.//a',
    '\\a',
    '/postern',
    '/postern/enter?code=x',
    '/postern/start',
    '/a/../postern/enter',
    '/%70ostern/',
    '/POSTERN/',
    `/${'x'.repeat(2_048)}`,
  ];
  return [
    ...origins.flatMap((origin) => [`${origin}/`, `${origin}/a?b=c`, `${origin}/postern/../a`]),
    ...good.flatMap((origin) => badPaths.map((path) => origin + path)),
  ];
}

t.test('no origin that only looks like ours is led to', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  const start = 'x'.repeat(43);
  const foreign = returnToFamilies.flatMap(({ leads, values }) => (leads === 'home' ? values : []));
  const values = new Set([...lookalikes(), ...foreign.filter((value) => /^\s*https?:/i.test(value))]);
  t.ok(values.size >= 200, `${values.size}`);
  for (const value of values) {
    const shown = shownText(value);
    if (encodeURIComponent(value).length > 7_000) continue;
    const led = await browser.send(signInAt(value, start));
    t.equal(led.status, 303, shown);
    t.equal(led.headers.location, '/postern/', shown);
  }
  // With the right ones, the same request leads on.
  for (const [place, hash] of [
    [`${wiki}/`, start],
    ['https://a_-9.preview.acme.dev/x', start],
  ] as const)
    t.match(await browser.send(signInAt(place, hash)), { status: 302 }, place);
  for (const hash of [
    '',
    'x',
    'x'.repeat(42),
    'x'.repeat(44),
    `${'x'.repeat(42)}=`,
    `${'x'.repeat(42)}+`,
    `${'x'.repeat(42)}\u00e4`,
  ])
    t.match(await browser.send(signInAt(`${wiki}/`, encodeURIComponent(hash))), { status: 303 }, hash);
  for (const query of ['', `&start=${start}&start=${start}`, `&start=${start}&return_to=%2F`])
    t.match(
      await browser.send(`${base}/postern/sign-in?return_to=${encodeURIComponent(`${wiki}/`)}${query}`),
      { status: 303, headers: { location: '/postern/' } },
      query,
    );
});
