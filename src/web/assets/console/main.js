/** The console: reads the page's facts, gets a token, and shows the part that the address names. */

import { h, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Account } from './account.js';
import { followLinksBelow, useAddress } from './address.js';
import { Api } from './api.js';
import { ApiKeys } from './api-keys.js';
import { Audit } from './audit.js';
import { Console } from './context.js';
import { ApiKey } from './key.js';
import { isPending, useLoaded } from './loaded.js';
import { Said } from './said.js';
import { ScopeSet, ScopeSets } from './scope-sets.js';
import { Sessions } from './sessions.js';
import { html, Problem } from './show.js';
import { Text } from './text.js';
import { User } from './user.js';
import { Users } from './users.js';

const place = /** @type {HTMLElement} */ (document.getElementById('console'));
const {
  user = '',
  path: root = '',
  api: apiPath = '',
  area = '',
  home = '/',
  title = '',
  tenant = '',
  username = '',
  hasPassword = '',
  minPasswordLength = '',
  maxKeyLifetime = '',
  served = '',
  origin = '',
  logo = '',
  providers = '',
} = place.dataset;
const endpoints = new Set(served.split(' '));

/** Name of the event for a change of the user's scopes. */
const scopesChanged = 'postern:scopes';

const api = new Api(
  apiPath,
  user,
  (reason) => {
    const back = encodeURIComponent(location.pathname + location.search);
    location.replace(`${area}/sign-in?return_to=${back}${reason === 'ended' ? '&ended' : ''}`);
    // Nothing more happens on this page.
    return new Promise(() => {});
  },
  () => dispatchEvent(new Event(scopesChanged)),
);

/**
 * @typedef {{
 *   readonly name: string,
 *   readonly label: string,
 *   readonly scope: string | null,
 *   readonly endpoint: string | null,
 *   readonly all: () => any,
 *   readonly one?: (options: { id: string }) => any,
 * }} Part
 * @type {readonly Part[]}
 */
const parts = [
  { name: 'api-keys', label: 'API keys', scope: 'apikeys:read', endpoint: null, all: ApiKeys, one: ApiKey },
  { name: 'sessions', label: 'Sessions', scope: 'sessions:read', endpoint: 'admin_sessions', all: Sessions },
  { name: 'users', label: 'Users', scope: 'users:read', endpoint: 'users', all: Users, one: User },
  {
    name: 'scope-sets',
    label: 'Scope sets',
    scope: 'scopesets:read',
    endpoint: 'scope_sets',
    all: ScopeSets,
    one: ScopeSet,
  },
  { name: 'audit', label: 'Audit', scope: 'audit:read', endpoint: 'audit', all: Audit },
  { name: 'account', label: 'Your account', scope: null, endpoint: null, all: Account },
];

function App() {
  const started = useLoaded(() => api.refresh(), []);
  const { pathname } = useAddress();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [, setRound] = useState(0);
  useEffect(() => {
    const update = () => setRound((before) => before + 1);
    addEventListener(scopesChanged, update);
    return () => removeEventListener(scopesChanged, update);
  }, []);
  // Until the user's scopes are known the links keep their places, unseen.
  const isStarting = isPending(started);
  const offered = parts.filter(
    ({ scope, endpoint }) =>
      (isStarting || scope === null || api.scopes.has(scope)) &&
      (endpoint === null || endpoints.has(endpoint)),
  );
  const [name = '', id = ''] = pathname.slice(root.length + 1).split('/');
  const part = name === '' ? offered[0] : parts.find((each) => each.name === name);
  useEffect(() => {
    if (!isStarting) document.title = `${part?.label ?? 'Not found'} · ${title}`;
    setMenuOpen(false);
  }, [part, id, isStarting]);
  return html`
    <a class="skip" href="#content">Skip to content</a>
    <header class="bar">
      <p class="brand">
        ${logo === '' ? html`<${Mark} />` : html`<img class="logo" src=${logo} alt="" />`}
        <span>${title}</span>${tenant !== title && html`<span class="quiet">tenant ${tenant}</span>`}
      </p>
      <button
        type="button"
        class="button button-secondary menu-button"
        aria-expanded=${isMenuOpen}
        aria-controls="menu"
        onClick=${() => setMenuOpen(!isMenuOpen)}
      >
        Menu
      </button>
      <div id="menu" class=${isMenuOpen ? 'menu' : 'menu menu-closed'}>
      <nav aria-label="Console">
        <ul class=${isStarting ? 'unseen-yet' : null}>
          ${offered.map(
            (each) => html`
              <li><a class="bar-link" href=${`${root}/${each.name}`} aria-current=${each === part ? 'page' : null}>${each.label}</a></li>
            `,
          )}
        </ul>
      </nav>
      <p class="who">
        <a href=${home}>Open ${title}</a>
        <a href=${`${root}/account`} title="Your account"><strong><${Text} of=${username} /></strong></a>
      </p>
      <form method="post" action=${`${area}/sign-out`}><button type="submit" class="small">Sign out</button></form>
      </div>
    </header>
    <main id="content" tabindex="-1">
      <${Said} />
      ${started.error !== null && html`<${Problem} error=${started.error} again=${started.reload} />`}
      ${isStarting && html`<p role="status" class="quiet">Loading…</p>`}
      ${!started.isLoading && started.error === null && show(part, id, offered)}
    </main>
  `;
}

/** @param {Part | undefined} part @param {string} id @param {readonly Part[]} offered */
function show(part, id, offered) {
  const shown = id === '' ? part?.all : part?.one;
  if (part === undefined || shown === undefined)
    return html`<h1>Nothing is here</h1><p><a href=${`${root}/`}>Go to the start of the console</a></p>`;
  if (!offered.includes(part)) return html`<${Refused} part=${part} />`;
  return h(shown, { key: `${part.name}/${id}`, id });
}

/**
 * A part whose address was entered by someone who may not see it: shows the API's reason.
 * @param {{ readonly part: Part }} options
 */
function Refused({ part: { name, label, endpoint } }) {
  const isServed = endpoint === null || endpoints.has(endpoint);
  const { error } = useLoaded(async () => (isServed ? api.get(`/admin/${name}/?size=1`) : null), [name]);
  return html`
    <h1>${label}</h1>
    ${error !== null && html`<${Problem} error=${error} />`}
    ${!isServed && html`<p>Postern does not serve this here: <code>endpoints.${endpoint}</code> leaves it to another service, or turns it off.</p>`}
  `;
}

/** The mark of the other pages: a gate in a wall. */
function Mark() {
  return html`
    <svg class="mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true" focusable="false">
      <path
        class="mark-wall"
        d="M4 3h24a2 2 0 0 1 2 2v22a2 2 0 0 1-2 2h-5V17a7 7 0 0 0-14 0v12H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z"
      />
      <path class="mark-gate" d="M16 13a4 4 0 0 1 4 4v12h-8V17a4 4 0 0 1 4-4z" />
    </svg>
  `;
}

/** @type {import('./context.js').ConsoleContext} */
const shared = {
  api,
  root,
  area,
  origin,
  title,
  username,
  hasPassword: hasPassword === 'yes',
  minPasswordLength: Number(minPasswordLength),
  maxKeyLifetimeMs: maxKeyLifetime === '' ? null : Number(maxKeyLifetime),
  served: endpoints,
  providers: new Map(Object.entries(JSON.parse(providers || '{}'))),
  may: (...scopes) => scopes.every((scope) => api.scopes.has(scope)),
};

followLinksBelow(root);
// When the page comes back from the back/forward cache, its user may be signed out: it must show nothing.
addEventListener('pagehide', () => render(null, place));
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
render(
  html`
    <${Console.Provider}
      value=${shared}
    >
      <${App} />
    <//>
  `,
  place,
);
