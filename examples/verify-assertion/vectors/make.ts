import { writeFileSync } from 'node:fs';
import { badCases } from './bad-cases.ts';
import { type Case, goodCases } from './good-cases.ts';
import { jwks, secret } from './keys.ts';
import { instant, settings } from './request.ts';

const { issuer, audience } = settings;

/** What every verifier is run on. */
export const vectors = {
  about:
    'Requests as an upstream receives them, in turn to a new verifier for each case, whose clock stands at now (epoch seconds). The last is accepted or not, those before it are accepted.',
  issuer,
  audience,
  jwks,
  secret,
  cases: [...goodCases, ...badCases].map(completed),
};

function completed({ name, algorithm = 'EdDSA', now = instant, accepted, requests }: Case) {
  return { name, algorithm, now, accepted, requests };
}

/** As it is kept, a line for each case. */
export function vectorsText(): string {
  const { cases, ...others } = vectors;
  const head = JSON.stringify(others, null, 2).slice(0, -2);
  return `${head},\n  "cases": [\n${cases.map((each) => `    ${JSON.stringify(each)}`).join(',\n')}\n  ]\n}\n`;
}

/** Where it is kept. */
export const vectorsFile: string = new URL('../vectors.json', import.meta.url).pathname;

if (process.argv[1] === new URL(import.meta.url).pathname) writeFileSync(vectorsFile, vectorsText());
