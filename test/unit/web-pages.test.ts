import { globSync, readFileSync } from 'node:fs';
import t from 'tap';
import { createSite } from '../support/pages/page-server.ts';
import { pageStates } from '../support/pages/page-states.ts';

const { site } = createSite();
const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;
const attributes = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value]) => value!);

t.test('every page has a state to be tried in', async (t) => {
  const pages = globSync('src/web/pages/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^export function ([a-z]\w*Page)\(/gm)].map(([, name]) => name!),
  );
  const states = readFileSync('test/support/pages/page-states.ts', 'utf8');
  // The console's page is empty without its scripts, and createEchoPage only chooses what echoPage shows.
  for (const name of pages.filter((one) => one !== 'consolePage' && one !== 'createEchoPage'))
    t.ok(states.includes(`${name}(`), name);
});

for (const [name, render] of Object.entries(pageStates)) {
  t.test(`${name} is a whole document that needs no style or script of its own`, async (t) => {
    const page = render(site);
    t.match(page, /^<!doctype html><html lang="en"><head><meta charset="utf-8"/);
    t.equal(count(page, /<h1[ >]/g), 1, 'one heading');
    t.equal(count(page, /<header>/g), 1);
    t.equal(count(page, /<main[ >]/g), 1);
    t.equal(count(page, /<footer>/g), 1);
    const heading = /<h1>(.*?)<\/h1>/.exec(page)![1]!;
    const wrong = page.includes('role="alert"') || name.startsWith('error') || name === 'activate-already';
    const title = /<span>(.*?)<\/span>/.exec(page)![1]!;
    t.match(page, `<title>${wrong ? 'Problem: ' : ''}${heading} · ${title}</title>`);
    t.notMatch(page, /\sstyle=|\son[a-z]+=|<style|javascript:|<meta http-equiv/, 'nothing inline');
    t.equal(
      count(page, /<script/g),
      count(page, /<script type="module" src="\/postern\/assets\/[^"]+"><\/script>/g),
    );
  });

  t.test(`${name} labels its fields, and refers to what is there`, async (t) => {
    const page = render(site);
    const ids = attributes(page, 'id');
    t.equal(new Set(ids).size, ids.length, 'no id twice');
    const inputs = [...page.matchAll(/<input [^>]*>/g)]
      .map(([input]) => input)
      .filter((input) => !/type="hidden"| hidden/.test(input));
    const labels = attributes(page, 'for');
    t.strictSame(
      inputs.map((input) => attributes(input, 'id')[0]),
      labels,
    );
    const references = ['aria-describedby', 'aria-labelledby', 'data-reveals', 'data-copies'];
    for (const id of references
      .flatMap((reference) => attributes(page, reference))
      .join(' ')
      .split(' ')) {
      if (id !== '') t.ok(ids.includes(id), `#${id}`);
    }
    t.ok(count(page, / autofocus/g) <= 1);
    t.equal(count(page, /aria-invalid="true"/g), count(page, /class="problem"/g));
  });

  t.test(`${name} sends its form to Postern`, async (t) => {
    const page = render(site);
    t.equal(count(page, /<form/g), count(page, /<form method="post" action="\/postern\/[a-z-]+">/g));
  });
}

t.test('a page that a form led to has the address of one that can be opened', async (t) => {
  const rows: readonly [state: string, address: string | undefined][] = [
    ['sign-in', undefined],
    ['sign-in-wrong', '/postern/sign-in?return_to=%2Fstore%2F'],
    ['password-wrong', '/postern/password'],
    ['password-done', '/postern/password'],
    ['invitation-done', '/postern/sign-in'],
    ['activate-done', '/postern/sign-in'],
    ['end-session', '/postern/signed-out'],
    // The token would be lost.
    ['invitation-fields', undefined],
    ['activate-fields', undefined],
  ];
  for (const [state, address] of rows) {
    const page = pageStates[state]!(site);
    t.equal(attributes(page, 'data-address')[0], address, state);
    t.equal(page.includes(site.scripts.address), address !== undefined);
  }
});

t.test('password managers know what the fields are', async (t) => {
  const field = (page: string, id: string) => new RegExp(`<input id="${id}"[^>]*>`).exec(page)?.[0] ?? '';
  const signIn = pageStates['sign-in']!(site);
  t.match(
    field(signIn, 'username'),
    /type="text".*autocomplete="username" autocapitalize="none".*spellcheck="false"/,
  );
  t.match(field(signIn, 'username'), /autofocus/);
  t.match(field(signIn, 'password'), /type="password".*autocomplete="current-password"/);
  t.notMatch(field(signIn, 'password'), /minlength/, 'an old password may be short');
  const change = pageStates.password!(site);
  t.match(change, /<input type="text" autocomplete="username" value="alice" hidden/);
  t.match(
    field(change, 'new_password'),
    /autocomplete="new-password".*minlength="12" passwordrules="minlength: 12;"/,
  );
});

t.test(
  'after a wrong password the name is still there, and the keyboard begins at the password',
  async (t) => {
    const page = pageStates['sign-in-wrong']!(site);
    t.match(page, /id="username"[^>]*value="alice"/);
    t.match(page, /id="password"[^>]*autofocus[^>]*aria-describedby="notice"/);
    t.notMatch(page, /id="username"[^>]*autofocus/);
  },
);

t.test('a token that is good is kept but not shown again; a wrong one is', async (t) => {
  t.match(pageStates['activate-fields']!(site), '<input type="hidden" name="token" value="right"/>');
  t.match(pageStates['activate-wrong-token']!(site), /id="token"[^>]*type="text" value="not the token"/);
});

t.test('several fields can be wrong at once', async (t) => {
  const page = pageStates['activate-fields']!(site);
  t.match(page, 'Your user name must not contain control characters.');
  t.match(page, 'Use at least 12 characters.');
});
