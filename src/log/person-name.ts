import { jsonText } from './json-text.ts';

/** Authors that are no users, as they are shown; their names of two words are quoted in any case. */
const reserved: ReadonlySet<string> = new Set([
  'anonymous',
  'api_key',
  'command_line',
  'configuration',
  'provider',
  'session',
  'system',
]);

/** A user's name among other words: quoted unless it is one plain word, so that it can't pass for another author or a field. */
export function personName(name: string): string {
  return /^[\w.@+-]+$/.test(name) && !reserved.has(name.toLowerCase()) ? name : jsonText(name);
}
