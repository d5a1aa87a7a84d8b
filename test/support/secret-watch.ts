import { readFileSync } from 'node:fs';

/** Collects every secret a test uses or is given, and what must not hold one. */
export interface SecretWatch {
  /** A password, token, cookie value or key. */
  add(secret: string): void;
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
    addPublicText: (text) => void publicTexts.push(text),
    leaks(logFile) {
      const texts = [readFileSync(logFile, 'utf8'), ...publicTexts];
      return [...secrets].filter((secret) => texts.some((text) => text.includes(secret)));
    },
  };
}
