import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** How the image starts Postern, for this machine. */
export interface ImageSettings {
  /** Arguments of Node, and the program. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Variables that name places of the image which are elsewhere in the bench. */
const places = new Set(['POSTERN_CONFIG', 'SQLITE_TMPDIR']);

/** True if `npm run build` has been run. */
export function isBuilt(): boolean {
  return existsSync(`${root}dist/main.js`);
}

/** The settings that the Dockerfile states. */
export function imageSettings(): ImageSettings {
  return parseDockerfile(readFileSync(`${root}Dockerfile`, 'utf8'), root);
}

/** Reads `ENV` and `ENTRYPOINT` of the last stage, with `/app/` where the checkout is; throws if there is no entry. */
export function parseDockerfile(text: string, app: string): ImageSettings {
  const stage = text.slice(text.lastIndexOf('\nFROM ')).replaceAll('\\\n', ' ');
  const entry = /^ENTRYPOINT (\[.*\])$/m.exec(stage)?.[1];
  const [command, ...args] = entry === undefined ? [] : (JSON.parse(entry) as string[]);
  if (command !== 'node') throw new Error(`the entry point of the Dockerfile is not node but ${command}`);
  const here = (value: string) => value.replaceAll('/app/', app);
  const env = [...stage.matchAll(/^ENV (.*)$/gm)].flatMap(([, line = '']) =>
    [...line.matchAll(/(\w+)=("[^"]*"|\S+)/g)].flatMap(([, name = '', value = '']) =>
      places.has(name) ? [] : [[name, here(value.replace(/^"|"$/g, ''))] as const],
    ),
  );
  return { args: args.map(here), env: Object.fromEntries(env) };
}
