import t from 'tap';
import { consolePage } from '../../src/web/pages/console.ts';
import { shownText } from '../support/corpora/shown-text.ts';
import { markupTexts, pagesWith, siteNamed, structureOf } from '../support/pages/page-texts.ts';

const documents = {
  ...pagesWith,
  'document of the console': (text: string) =>
    consolePage(siteNamed(text), {
      path: text,
      apiPath: text,
      origin: text,
      home: text,
      providers: { [text]: text },
      maxKeyLifetimeMs: null,
      username: text,
      served: [text],
      userId: text,
      hasPassword: true,
      minPasswordLength: 12,
    }),
};

for (const [name, render] of Object.entries(documents)) {
  t.test(`${name}: no text from outside becomes markup`, async (t) => {
    const harmless = structureOf(render('text'));
    for (const text of markupTexts) t.strictSame(structureOf(render(text)), harmless, shownText(text));
  });
}

t.test('a text is shown as it is', async (t) => {
  const page = pagesWith.activated!('<b>"&amp;"');
  t.match(page, '<bdi class="account-name">&lt;b>&quot;&amp;amp;&quot;</bdi>');
});

t.test('an address to come back to is one parameter', async (t) => {
  const page = pagesWith['sign-in']!('/a?b=c&d#e');
  t.match(page, '/sign-in/%2Fa%3Fb%3Dc%26d%23e?return_to=%2Fa%3Fb%3Dc%26d%23e"');
  t.match(page, '<input type="hidden" name="return_to" value="/a?b=c&amp;d#e"/>');
});
