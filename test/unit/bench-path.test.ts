import t from 'tap';
import { allocationsByPart, pausesByCause, timesByPart } from '../../bench/path/observed.ts';
import { causeOf, type Frame, partOf } from '../../bench/path/parts.ts';

const root = new URL('../..', import.meta.url).href;
const frame = (text: string): Frame => {
  const space = text.indexOf(' ');
  return { file: text.slice(0, space), name: text.slice(space + 1) };
};
const stack = (...texts: string[]) => [frame(' (root)'), ...texts.map(frame)];

t.test('each function belongs to one part of the way', async (t) => {
  const table: [string, Frame[]][] = [
    ['outside JavaScript', stack(' (program)')],
    ['collect garbage', stack('src/log/log.ts access', ' (garbage collector)')],
    ['Node', stack('node:net onStreamRead')],
    [
      'parse the request',
      stack('src/http1/server/served-connection.ts onData', 'src/http1/message/message-head.ts readHead'),
    ],
    [
      'parse the response',
      stack('src/http1/client/client-connection.ts #read', 'src/http1/message/message-head.ts readHead'),
    ],
    [
      'authenticate',
      stack('src/gateway/gateway.ts handle', 'src/credentials/api-key.ts hash', 'node:crypto update'),
    ],
    [
      'write to sockets',
      stack('src/http1/message/output.ts sendHeld', 'node:net Socket.uncork', ' writeBuffer'),
    ],
    ['log', stack('src/log/line-writer.ts #write', 'node:fs write', ' writeBuffer')],
    [
      'judge it',
      stack('src/http1/server/served-connection.ts onData', 'src/forward-auth/question.ts (anonymous)'),
    ],
    ['send to the client', stack('src/gateway/gateway.ts decide', 'src/http/reply.ts write')],
    ['timers', stack('node:timers listOnTimeout', 'src/http1/server/server.ts poll')],
    ['timers', stack('node:timers listOnTimeout')],
    ['other code of ours', stack('src/cli/run.ts run')],
  ];
  for (const [part, frames] of table)
    t.equal(partOf(frames), part, frames.map(({ name }) => name).join(' > '));
});

t.test('a turn has one cause', async (t) => {
  t.equal(causeOf(stack('node:net onStreamRead', 'src/http1/server/server.ts read')), 'requests');
  t.equal(
    causeOf(stack('node:timers listOnTimeout', 'src/stores/sqlite/sessions.ts sweep', ' step')),
    'timer: stores/sqlite/sessions.ts sweep',
  );
  t.equal(causeOf(stack('src/log/line-writer.ts flush', ' write')), 'log: flush');
  t.equal(causeOf(stack('node:net onStreamRead')), 'Node');
});

const callFrame = (functionName: string, file: string) => ({
  functionName,
  url: file.startsWith('src/') ? root + file : file,
});

t.test('samples become times and pauses', async (t) => {
  const profile = {
    nodes: [
      { id: 1, callFrame: callFrame('(root)', ''), children: [2, 3, 4, 6] },
      { id: 2, callFrame: callFrame('(idle)', '') },
      { id: 3, callFrame: callFrame('access', 'src/log/log.ts') },
      { id: 4, callFrame: callFrame('listOnTimeout', 'node:internal/timers'), children: [5] },
      { id: 5, callFrame: callFrame('sweep', 'src/stores/sqlite/sessions.ts') },
      { id: 6, callFrame: callFrame('handle', 'src/gateway/gateway.ts') },
    ],
    samples: [2, 5, 5, 6, 5, 3, 2],
    timeDeltas: [100, 100, 400, 600, 100, 1000, 200],
  };
  t.strictSame(
    timesByPart(profile),
    new Map([
      ['timers', 2000],
      ['other code of ours', 100],
      ['log', 200],
    ]),
  );
  t.strictSame(
    pausesByCause(profile),
    new Map([
      ['timer: stores/sqlite/sessions.ts sweep', { times: 2, longestMs: 1, totalMs: 2 }],
      ['log: access', { times: 1, longestMs: 0.2, totalMs: 0.2 }],
    ]),
  );
});

t.test('allocations belong to the function that made them', async (t) => {
  const head = {
    callFrame: callFrame('(root)', ''),
    selfSize: 0,
    children: [
      {
        callFrame: callFrame('access', 'src/log/log.ts'),
        selfSize: 300,
        children: [{ callFrame: callFrame('toISOString', ''), selfSize: 50, children: [] }],
      },
    ],
  };
  t.strictSame(allocationsByPart({ head }), new Map([['log', 350]]));
});
