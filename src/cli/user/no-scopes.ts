import { escapeControls } from '../../log/escape-controls.ts';
import { jsonText } from '../../log/json-text.ts';
import type { Call } from '../command.ts';
import { shellWord } from '../setup/installation.ts';
import { tell } from '../terminal.ts';
import type { CommandContext } from '../with-stores.ts';
import type { PresentedUser } from './with-user.ts';

/** Number of scopes up to which the hint names them all. */
const mostNamed = 4;

/** Tells that a user holds no scopes although routes ask for some: the first sign-in would lead to a refusal. */
export function tellOfNoScopes(
  call: Call,
  { config }: Pick<CommandContext, 'config'>,
  { username, effective_scopes }: Pick<PresentedUser, 'username' | 'effective_scopes'>,
): void {
  const lists = config.routes.flatMap(({ scopes }) =>
    Array.isArray(scopes) ? [scopes] : Object.values(scopes),
  );
  const asked = [...new Set(lists.flatMap((scopes) => scopes ?? []))];
  if (effective_scopes.length > 0 || asked.length === 0) return;
  const named = asked.length > mostNamed ? `${asked.slice(0, mostNamed).join(' ')} …` : asked.join(' ');
  const [only = ''] = asked;
  const given = asked.length === 1 ? only : '"…"';
  const cure = `user set ${argumentsFor(username, given)}`;
  tell(call, `${jsonText(username)} holds no scopes yet, and routes ask for ${named}: ${cure}`);
}

/**
 * The arguments of `user set` that give a user scopes, for a shell; with a placeholder for a name that a terminal would not show
 * as it is.
 */
export function argumentsFor(username: string, scopes: string): string {
  if (escapeControls(username) !== username) return `NAME --scopes ${scopes}`;
  const name = shellWord(username);
  return name.startsWith('-') ? `--scopes ${scopes} -- ${name}` : `${name} --scopes ${scopes}`;
}
