// Plain JavaScript that earlier versions of Node understand too: they can't load TypeScript, and the addons crash them. It is
// called before anything else is loaded; `npm run build` copies it into `dist`.
const { existsSync, readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

/** The lowest Node that runs Postern; any from 20 hands over. */
const lowest = '22.19';
/** Signals that are passed on: a terminal sends the last two to the whole group of processes, see {@link reachesGroup}. */
const signals = ['SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGINT', 'SIGQUIT'];

/**
 * True if this Node is too old for Postern. The program then runs on the Node that comes with the packages, with the same
 * arguments and standard streams: signals are passed on to it, and this process ends as it does. Without such a Node it ends
 * with a sentence.
 */
function handOver(program) {
  if (isSinceLowest()) return false;
  const need = `postern: this is Node ${process.versions.node}, and ${lowest} or later is needed`;
  const node = nodeOfPackages();
  // Were it too old itself, it would hand over to itself.
  if (node === undefined || node === process.execPath) {
    fail(
      `${need}; it comes with the archive for Linux, and with the packages of npm unless optional ones are left out`,
    );
    return true;
  }
  // Loaded only here, since most starts don't need it.
  const { spawn } = require('node:child_process');
  const child = spawn(node, [...process.execArgv, program, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of signals)
    process.on(signal, () => {
      if (!reachesGroup(signal)) child.kill(signal);
    });
  child.on('error', ({ code }) => fail(`${need}; ${node} doesn't start (${code})`));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 1;
    if (signal === null) return;
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
  return true;
}

function isSinceLowest() {
  const [major, minor] = lowest.split('.').map(Number);
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}

/**
 * Node as a package in the folders `node_modules` above, where npm installs it. `require.resolve` would also look into NODE_PATH and
 * folders of the home directory, and what lies there isn't ours.
 */
function nodeOfPackages() {
  for (let folder = __dirname, below; folder !== below; [folder, below] = [dirname(folder), folder]) {
    const node = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
    if (existsSync(node)) return node;
  }
  return undefined;
}

/**
 * True if the signal is the terminal's, which sends it to every process in its foreground: passed on, Ctrl-C would count as the
 * second one, which cuts requests off.
 */
function reachesGroup(signal) {
  if (signal !== 'SIGINT' && signal !== 'SIGQUIT') return false;
  try {
    // proc(5): after the name in parentheses come the state, the parent, the group, the session, the terminal and its foreground.
    const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return group === foreground;
  } catch {
    return false;
  }
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
}

module.exports = { handOver };
