import { readFileSync } from 'node:fs';

/** Collects every secret a test uses or is given, and what must not hold one. */
export interface SecretWatch {
  /** A password, token, cookie value or key. */
  add(secret: string): void;
  /** The secrets that stand in a text. */
  heldIn(text: string): string[];
  /** Text that must hold no secret: an error body, what a command printed on standard error. */
  addPublicText(text: string): void;
  /** The secrets that stand in the log file or in a public text; `[]` is what a test wants. */
  leaks(logFile: string): string[];
}

/** Shorter ones stand everywhere by chance. */
const minLength = 8;

/** Creates an empty watch. */
export function createSecretWatch(): SecretWatch {
  const secrets = new Set<string>();
  const publicTexts: string[] = [];
  return {
    add(secret) {
      if (secret.length >= minLength) secrets.add(secret);
    },
    heldIn: (text) => [...secrets].filter((secret) => text.includes(secret)),
    addPublicText: (text) => void publicTexts.push(text),
    leaks(logFile) {
      const beginnings = Map.groupBy(secrets, (secret) => secret.slice(0, minLength));
      const found = new Set<string>();
      for (const text of [readFileSync(logFile, 'utf8'), ...publicTexts])
        for (const secret of secretsIn(text, beginnings)) found.add(secret);
      return [...found];
    },
  };
}

/** Reads the text once, however many secrets there are: long tests create tens of thousands. */
function* secretsIn(text: string, beginnings: ReadonlyMap<string, readonly string[]>): Generator<string> {
  for (let at = 0; at + minLength <= text.length; at += 1)
    for (const secret of beginnings.get(text.slice(at, at + minLength)) ?? [])
      if (text.startsWith(secret, at)) yield secret;
}
