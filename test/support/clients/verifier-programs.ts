import { execFile } from 'node:child_process';
import { join } from 'node:path';

/** What a program judges: requests in turn, by a new verifier that is told the rest. */
export interface JudgedCase {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithm: string;
  readonly jwks: object;
  readonly secret: string;
  /** Epoch seconds. */
  readonly now: number;
  readonly requests: readonly {
    readonly method: string;
    readonly target: string;
    readonly headers: readonly (readonly [name: string, value: string])[];
  }[];
}

/** Judges by our verifier, or by a library that knows nothing of Postern. */
export type By = 'verifier' | 'library';

/** Gives for each case whether each of its requests is accepted. */
export type Judge = (by: By, cases: readonly JudgedCase[]) => Promise<boolean[][]>;

const root = join(import.meta.dirname, '../../..');
const examples = join(root, 'examples/verify-assertion');
const programs = join(root, 'test/clients/programs');

/** The verifier for ASGI, and PyJWT. */
export const judgeInPython =
  (python: string): Judge =>
  (by, cases) =>
    run([python, join(programs, 'verify_assertions.py'), by, join(examples, 'python')], cases);

/** The verifier for `net/http`, and golang-jwt; `binary` is what {@link buildGoJudge} made. */
export const judgeInGo =
  (binary: string): Judge =>
  (by, cases) =>
    run([binary, by], cases);

/** Compiles the program, whose one module from outside is pinned. Rejects with what the compiler says. */
export function buildGoJudge(binary: string): Promise<void> {
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' };
  return new Promise((resolve, reject) => {
    execFile(
      'go',
      ['build', '-o', binary, '.'],
      { cwd: join(programs, 'verify-assertions'), env },
      (error, _stdout, stderr) => (error === null ? resolve() : reject(new Error(stderr || error.message))),
    );
  });
}

function run([file, ...args]: readonly string[], cases: readonly JudgedCase[]): Promise<boolean[][]> {
  return new Promise((resolve, reject) => {
    const child = execFile(file!, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
      if (error === null)
        resolve(
          stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line)),
        );
      else reject(error);
    });
    // That it ended early is reported above.
    child.stdin!.on('error', () => {});
    child.stdin!.end(cases.map((each) => `${JSON.stringify(each)}\n`).join(''));
  });
}
