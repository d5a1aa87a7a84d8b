import { join, relative } from 'node:path';
import t, { type Test } from 'tap';
import type { Node } from 'typescript/unstable/ast';
import {
  isArrowFunction,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isMethodDeclaration,
} from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

const root = join(import.meta.dirname, '../..');
const largestFile = 300;
const longestFunction = 90;

const isFunction = (node: Node) =>
  isFunctionDeclaration(node) ||
  isMethodDeclaration(node) ||
  isConstructorDeclaration(node) ||
  isArrowFunction(node) ||
  isFunctionExpression(node);
const linesIn = (text: string) => text.trimEnd().split('\n').length;

/** The files of a folder, and the first lines of their functions, that are too long; by the compiler's reading. */
function tooLong(t: Test, folder: string): string[] {
  const compilerOptions = {
    noLib: true,
    noResolve: true,
    types: [],
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  const project = join(
    t.testdir({ 'tsconfig.json': JSON.stringify({ compilerOptions, include: [`${folder}/**/*.ts`] }) }),
    'tsconfig.json',
  );
  const found: string[] = [];
  const api = new API({ cwd: root });
  t.teardown(() => api.close());
  const { program } = api.updateSnapshot({ openProject: project }).getProject(project)!;
  const files = program.getSourceFileNames();
  t.ok(files.length > 0);
  for (const path of files) {
    const file = program.getSourceFile(path)!;
    const visit = (node: Node): void => {
      const text = isFunction(node) ? node.getText(file) : '';
      if (linesIn(text) > longestFunction) found.push(`${relative(root, path)}: ${text.split('\n')[0]}`);
      node.forEachChild(visit);
    };
    visit(file);
    if (linesIn(file.text) > largestFile) found.push(relative(root, path));
  }
  return found;
}

t.test(
  `no file of src has more than ${largestFile} lines, no function more than ${longestFunction}`,
  async (t) => {
    t.strictSame(tooLong(t, join(root, 'src')), []);
  },
);

t.test('a longer one is found', async (t) => {
  const body = '\n  call();'.repeat(longestFunction - 1);
  const folder = t.testdir({
    'long.ts': `export class Long {\n  method() {${body}\n  }\n}\n`,
    'short.ts': `export function short() {${body.replace('\n  call();', '')}\n}\n`,
    'large.ts': 'call();\n'.repeat(largestFile + 1),
  });
  await t.test('by the compiler', async (t) => {
    const found = tooLong(t, folder).map((each) => each.replace(/^.*\//, ''));
    t.strictSame(found.sort(), ['large.ts', 'long.ts: method() {']);
  });
});
