/** Sessions, with their users, programs and addresses. */

import { useContext, useState } from 'preact/hooks';
import { Question } from './ask.js';
import { Console } from './context.js';
import { counted, ending } from './counts.js';
import { List } from './list.js';
import { Person } from './person.js';
import { html, RowAction, State } from './show.js';
import { Text } from './text.js';
import { Ago } from './times.js';

/** Names of programs by their token in a User-Agent. Many name others as well, so the first match counts. */
const programs = {
  'Edg/': 'Edge',
  'OPR/': 'Opera',
  'Firefox/': 'Firefox',
  'Chrome/': 'Chrome',
  'Safari/': 'Safari',
  'curl/': 'curl',
  'Go-http-client/': 'Go',
  'python-requests/': 'Python',
};
const systems = {
  Windows: 'Windows',
  Android: 'Android',
  iPhone: 'iPhone',
  iPad: 'iPad',
  'Mac OS X': 'macOS',
  Linux: 'Linux',
};

/** The program and the system of a User-Agent, as far as they are known. @param {string} agent */
export function browserOf(agent) {
  const found = [programs, systems].flatMap((names) => {
    const name = Object.entries(names).find(([part]) => agent.includes(part));
    return name === undefined ? [] : [name[1]];
  });
  return found.length > 0 ? found.join(' on ') : agent.slice(0, 40) || 'an unknown program';
}

/** The way in which a session began, in words. @param {Providers} providers @param {string} method */
const methodWords = (providers, method) => providers.get(method) ?? method;

/** @typedef {import('./context.js').ConsoleContext['providers']} Providers */

/** The program and address of a session. @param {any} session */
const fromOf = (session) =>
  html`<span title=${session.user_agent}><${Text} of=${browserOf(session.user_agent)} /></span> <code class="quiet">${session.address}</code>`;

/** Marks the session in which the page is open. @param {any} session */
const markOf = (session) => session.current && html` <${State} kind="good">this browser<//>`;

/** @param {Providers} providers @returns {readonly import('./list.js').Column[]} */
const sharedBy = (providers) => [
  {
    label: 'Signed in by',
    card: 'fact',
    word: 'by',
    cell: (session) => html`<${Text} of=${methodWords(providers, session.method)} />`,
  },
  {
    label: 'Began',
    sort: 'created',
    kind: 'time',
    card: 'fact',
    word: 'began',
    cell: (session) => html`<${Ago} at=${session.created} />`,
  },
  {
    label: 'Last used',
    sort: 'last_used',
    kind: 'time',
    card: 'fact',
    word: 'used',
    cell: (session) => html`<${Ago} at=${session.last_used} />`,
  },
  {
    label: 'Expires',
    kind: 'time',
    card: 'fact',
    word: 'expires',
    cell: (session) => html`<${Ago} at=${session.expires} />`,
  },
];

/** @param {Providers} providers */
const filtersBy = (providers) => [
  { name: 'user__eq', label: 'User', type: /** @type {const} */ ('user') },
  {
    name: 'method__eq',
    label: 'Signed in by',
    choices: /** @type {[string, string][]} */ ([['password', 'Password'], ...providers]),
  },
];

/** The sessions of all users. */
export function Sessions() {
  const { may, providers } = useContext(Console);
  const [version, setVersion] = useState(0);
  const [ended, setEnded] = useState(/** @type {any} */ (null));
  const mayWrite = may('sessions:write');
  const columns = [
    {
      label: 'User',
      kind: /** @type {const} */ ('name'),
      card: /** @type {const} */ ('title'),
      cell: (/** @type {any} */ session) => html`<${Person} user=${session.user} />${markOf(session)}`,
    },
    { label: 'From', kind: /** @type {const} */ ('wide'), card: /** @type {const} */ ('line'), cell: fromOf },
    ...sharedBy(providers),
    ...(mayWrite ? [endColumn(setEnded)] : []),
  ];
  return html`
    <div class="heading"><h1>Sessions</h1></div>
    <${List}
      path="/admin/sessions/"
      what=${['session', 'sessions']}
      columns=${columns}
      filters=${filtersBy(providers)}
      sort=${{ by: 'created', order: 'desc' }}
      version=${version}
      empty=${html`<p>Nobody is signed in.</p>`}
    />
    ${
      ended !== null &&
      html`
        <${EndSession} session=${ended} list="/admin/sessions/" onClose=${() => setEnded(null)} onEnded=${() => setVersion(version + 1)}>
          ${ended.user.username === null ? 'a removed user' : html`<${Text} of=${ended.user.username} />`}’s
        <//>
      `
    }
  `;
}

/** @param {(session: any) => void} end */
function endColumn(end) {
  return {
    label: 'Action',
    kind: /** @type {const} */ ('action'),
    card: /** @type {const} */ ('action'),
    cell: (/** @type {any} */ session) =>
      html`<${RowAction} word="End" of=${`the session from ${browserOf(session.user_agent)}`} act=${() => end(session)} />`,
  };
}

/** The user's own sessions. */
export function OwnSessions() {
  const { api, providers } = useContext(Console);
  const [version, setVersion] = useState(0);
  const [ended, setEnded] = useState(/** @type {any} */ (null));
  const [isEndingOthers, setEndingOthers] = useState(false);
  const [others, setOthers] = useState(0);
  const columns = [
    {
      label: 'From',
      kind: /** @type {const} */ ('wide'),
      card: /** @type {const} */ ('title'),
      cell: (/** @type {any} */ session) => html`${fromOf(session)}${markOf(session)}`,
    },
    ...sharedBy(providers),
    {
      label: 'Action',
      kind: /** @type {const} */ ('action'),
      card: /** @type {const} */ ('action'),
      isEmpty: (/** @type {any} */ session) => session.current,
      cell: (/** @type {any} */ session) => (session.current ? null : endColumn(setEnded).cell(session)),
    },
  ];
  return html`
    <div class="heading">
      <h2>Your sessions</h2>
      ${
        others > 0 &&
        html`<button type="button" class="button button-secondary" onClick=${() => setEndingOthers(true)}>End all but this one</button>`
      }
    </div>
    <${List}
      path="/self/sessions/"
      what=${['session', 'sessions']}
      columns=${columns}
      filters=${[]}
      sort=${{ by: 'created', order: 'desc' }}
      version=${version}
      empty=${html`<p>You have no other session.</p>`}
      onLoaded=${(/** @type {any} */ page) => setOthers(page.total - 1)}
    />
    ${
      isEndingOthers &&
      html`
        <${Question}
          title="End all your other sessions?"
          done="Ended your other sessions."
          confirm=${(/** @type {number | null} */ count) => `End ${counted(count, 'session', 'sessions')}`.trim()}
          onClose=${() => setEndingOthers(false)}
          act=${async () => {
            await api.delete('/self/sessions/?others=true');
            setVersion(version + 1);
          }}
          count=${async () => (await api.get('/self/sessions/?size=1')).value.total - 1}
          words=${(/** @type {number | null} */ count) => ending([counted(count, 'other session', 'other sessions'), 'end']) || 'You have no other session.'}
        >
          <p>You stay signed in here; every other browser and program of yours has to sign in again.</p>
        <//>
      `
    }
    ${
      ended !== null &&
      html`<${EndSession} session=${ended} list="/self/sessions/" onClose=${() => setEnded(null)} onEnded=${() => setVersion(version + 1)} />`
    }
  `;
}

/**
 * Asks for confirmation of ending a session. `children` name its user unless it is one's own.
 * @param {{
 *   readonly session: any,
 *   readonly list: string,
 *   readonly onClose: () => void,
 *   readonly onEnded: () => void,
 *   readonly children?: unknown,
 * }} options
 */
function EndSession({ session, list, onClose, onEnded, children }) {
  const { api } = useContext(Console);
  return html`
    <${Question}
      title="End this session?"
      confirm="End session"
      done="Ended the session."
      onClose=${onClose}
      onStale=${onEnded}
      act=${async () => {
        await api.delete(list + session.id);
        onEnded();
      }}
    >
      <p>
        This ends ${children ?? 'your'} session in <${Text} of=${browserOf(session.user_agent)} /> (<code>${session.address}</code>) immediately.
        ${session.current && html` <strong>This is your own session.</strong>`}
      </p>
    <//>
  `;
}
