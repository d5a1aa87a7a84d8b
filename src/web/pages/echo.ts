import type { VNode } from 'preact';
import type { EchoedRequest, EchoPage } from '../../proxy/echo.ts';
import { areaFields, type WebArea } from '../area.ts';
import { linkButton, submitButton } from '../components/button.ts';
import { renderPage } from '../components/layout.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';

type Header = EchoedRequest['headers'][number];

/** Creates the echo's page for people, with the same security headers as Postern's own pages. */
export function createEchoPage({ site, console }: Pick<WebArea, 'site' | 'console'>): EchoPage {
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' };
  for (let i = 0; i < areaFields.length; i += 2) headers[areaFields[i]!] = areaFields[i + 1]!;
  return { headers, render: (request) => echoPage(site, request, console?.url) };
}

/** The page of the quick start's upstream: the caller's identity, and the received request. `console`: its address, if any. */
export function echoPage(
  site: Site,
  { method, target, headers }: EchoedRequest,
  console: string | null = null,
): string {
  const identity = headers.filter(([name]) => isIdentity(name));
  const others = headers.filter(([name]) => !isIdentity(name));
  const username = identity.find(([name]) => name.toLowerCase() === 'x-auth-username')?.[1];
  const request = html`<code>${`${method} ${target}`}</code>`;
  return renderPage(site, {
    heading: username === undefined ? 'Hello' : `Hello, ${username}`,
    wide: true,
    content: [
      username === undefined
        ? html`<p>This page stands in for your service. Postern sent it ${request}, and no one is signed in.</p>`
        : html`
            <p>
              This page stands in for your service. Postern sent it ${request} with these headers, which no client can
              forge:
            </p>
          `,
      identity.length > 0 && headerList(identity),
      username !== undefined && console !== null && fromProgram(console),
      html`<details><summary>Other headers</summary>${headerList(others)}</details>`,
      html`<div class="actions actions-row">${username === undefined ? signIn(site) : account(site, console)}</div>`,
    ],
  });
}

/** The way for programs, which have no browser to sign in with. */
function fromProgram(console: string): VNode {
  return html`
    <h2>Call it from a program</h2>
    <p>
      Programs send an API key in the header <code>X-API-Key</code>.${' '}
      <a href=${`${console}api-keys`}>Make a key in the console</a>, which shows the command that calls this service with it.
    </p>
  `;
}

function signIn({ path }: Site): VNode {
  return linkButton(`${path}/sign-in`, 'Sign in');
}

function account({ path }: Site, console: string | null): readonly (VNode | false)[] {
  return [
    console !== null && linkButton(console, 'Open the console', 'secondary'),
    linkButton(`${path}/`, 'Your account', 'secondary'),
    html`<form method="post" action=${`${path}/sign-out`}>${submitButton('Sign out', 'secondary')}</form>`,
  ];
}

function isIdentity(name: string): boolean {
  return name.toLowerCase().startsWith('x-auth-');
}

function headerList(headers: readonly Header[]): VNode {
  return html`
    <dl class="headers">
      ${headers.map(([name, value]) => html`<div><dt>${name}</dt><dd><code>${value}</code></dd></div>`)}
    </dl>
  `;
}
