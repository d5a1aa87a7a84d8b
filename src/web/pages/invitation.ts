import type { VNode } from 'preact';
import { accountName } from '../components/account-name.ts';
import { linkButton, submitButton } from '../components/button.ts';
import { renderPage } from '../components/layout.ts';
import { hiddenNotice, notice } from '../components/notice.ts';
import { html } from '../html.ts';
import type { Site } from '../site.ts';
import { commonPartsOf, newPasswordField, tokenField } from './form-fields.ts';
import { type FormWords, type Problem, problemTexts } from './problem.ts';

/** State of the page on which invited people choose a password. */
export interface Invitation {
  /** The sent token; empty at first. */
  readonly token?: string;
  readonly minPasswordLength: number;
  readonly problem: Problem | null;
}

const spent = 'This invitation has been used or has run out. Ask your administrator for a new one.';

const words: FormWords = {
  labels: { token: 'Invitation', password: 'New password' },
  atField: { invalid_invitation: ['token', 'If you pasted it, check that you copied all of it.', spent] },
  above: {
    too_many_attempts: (when) => `There were too many attempts with a wrong invitation. Try again ${when}.`,
  },
};

/** Renders `<path>/invitation`, with texts for the refusals of `POST /api/login/invitation`. */
export function invitationPage(site: Site, { token = '', minPasswordLength, problem }: Invitation): string {
  const { notice: text, fields } = problemTexts(problem, words);
  const partsOf = commonPartsOf(words, fields, (name) => name === 'password' || token === '');
  return renderPage(site, {
    heading: 'Choose your password',
    wrong: problem !== null,
    scripts: ['token', 'password', ...(problem === null ? (['invitation'] as const) : [])],
    content: [
      text !== null && notice('problem', text),
      problem === null && spentNotice(site),
      html`
        <form method="post" action=${`${site.path}/invitation`}>
          ${tokenField({
            ...partsOf('token'),
            hint: 'The part of your invitation link after #token=',
            sent: token,
          })}
          ${newPasswordField({ ...partsOf('password'), minLength: minPasswordLength })}
          ${submitButton('Set password')}
        </form>
      `,
    ],
  });
}

/** The notice in place of the form, once a script has learned that the invitation is no longer good. */
function spentNotice({ path }: Site): VNode {
  return hiddenNotice('spent', [
    spent,
    ' If you have set your password with it, ',
    html`<a href=${`${path}/sign-in`}>sign in</a>`,
    '.',
  ]);
}

/** Renders the page after a successful `<path>/invitation`. It names the account, because invited people may not know it. */
export function invitationRedeemedPage(site: Site, { username }: { readonly username: string }): string {
  return renderPage(site, {
    heading: 'Password set',
    address: `${site.path}/sign-in`,
    content: [
      notice('success', [
        'Your password is set. Your user name is ',
        accountName(username),
        '. Sessions that were open before have ended.',
      ]),
      linkButton(`${site.path}/sign-in`, 'Sign in'),
    ],
  });
}
