/** A configuration that is accepted though it is probably a mistake, and what `check` says of it: `LINE:COLUMN: kind: key: rule`. */
export type Mistake = readonly [sentence: string, sections: string, ...lines: readonly string[]];

const web = 'web: {}\nupstreams: { app: { url: "http://127.0.0.1:9000" } }\nroutes:\n';

/** Lines count from the first of `sections`. */
export const typicalMistakes: readonly Mistake[] = [
  [
    'an API below pages, which they can’t call',
    `${web}- { prefix: /, upstream: app, browser: true }\n- { prefix: /api, upstream: app }`,
    "5:3: warning: routes[1]: pages below / can't call /api with the web cookie (401): add browser: true, or browser: false if they don't",
  ],
  [
    'the same below a part of the site',
    `${web}- { prefix: /shop, upstream: app, browser: true }\n- { exact: /shop/api, upstream: app, accept: session }\n- { prefix: /shops, upstream: app }`,
    "5:3: warning: routes[1]: pages below /shop can't call /shop/api with the web cookie (401): add browser: true, or browser: false if they don't",
  ],
  [
    'an API that is certainly for programs',
    `${web}- { prefix: /, upstream: app, browser: true }\n- { prefix: /api, upstream: app, browser: false }\n- { prefix: /keys, upstream: app, accept: api_key }\n- { prefix: /open, upstream: app, public: true }\n- { exact: /called, upstream: app, browser: true }`,
  ],
];
