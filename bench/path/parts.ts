/** One function on a stack. */
export interface Frame {
  readonly name: string;
  /** Its file, from the root of the project or as V8 names it (`node:net`); empty: native. */
  readonly file: string;
}

/** The parts of a request's way in its order, then what no single request causes. */
export const parts = [
  'read the request',
  'parse the request',
  'judge it',
  'route it',
  'authenticate',
  'authorise',
  'head for the upstream',
  'send to the upstream',
  'read the response',
  'parse the response',
  'head for the client',
  'send to the client',
  'write to sockets',
  'log',
  'metrics',
  'other code of ours',
  'timers',
  'Node',
  'collect garbage',
  'outside JavaScript',
] as const;

/** One of {@link parts}. */
export type Part = (typeof parts)[number];

/** Which part a function of ours belongs to: the first whose pattern finds its `file:name`. */
const ours: readonly (readonly [Part, RegExp])[] = [
  ['log', /^src\/log\//],
  ['metrics', /^src\/(metrics\/|listeners\/finished-exchange|runtime\/counted-refusals)/],
  ['authenticate', /^src\/(authenticate|credentials|stores)\//],
  ['authorise', /^src\/proxy\/authorise/],
  ['route it', /^src\/(proxy\/route-table|gateway\/routes|rules\/own-areas)/],
  [
    'judge it',
    /^src\/(http\/(request-head|request-target|header-names|host|client-address)|rules\/|forward-auth\/(question|described|received))/,
  ],
  ['head for the client', /^src\/(proxy\/response-headers|http\/cors)/],
  [
    'send to the client',
    /^src\/(http1\/(server\/(response-writer|framed-response)|message\/output)|http\/reply|forward-auth\/(answer|decision))/,
  ],
  [
    'head for the upstream',
    /^src\/(proxy\/(request-headers|identity-headers)|http1\/client\/client-request)/,
  ],
  [
    'parse the response',
    /^src\/http1\/client\/(response-framing|client-connection.*:#?(read|readHead|onChunk|switch)$)/,
  ],
  [
    'read the response',
    /^src\/(http1\/client\/(client-connection.*:#?on|socket-reads|pool-member.*:(complete|on))|proxy\/forward\.ts:(onHead|onData|onEnd))/,
  ],
  ['send to the upstream', /^src\/(http1\/client\/(client-|pool-member)|proxy\/(forward|open-streams))/],
  [
    'parse the request',
    /^src\/http1\/(server\/(request-|incoming-body)|message\/(request-|message-head|head-text|name-cache|chunk|copied-text|growing-bytes))/,
  ],
  ['read the request', /^src\/(http1\/|http\/exchange|listeners\/http-listener)/],
];

/** What Node and the kernel do to write to a socket, and to close it. */
const writing = /(^|\.)_?(write|end|uncork|clearBuffer|doWrite)|^writev?Generic$|^handleWriteReq$/;

/** The part that what the last frame used belongs to; a stack begins with its outermost frame. */
export function partOf(stack: readonly Frame[]): Part {
  const leaf = stack.at(-1);
  if (leaf === undefined || leaf.name === '(program)') return 'outside JavaScript';
  if (leaf.name === '(garbage collector)') return 'collect garbage';
  const nearest = stack.findLastIndex(isOurs);
  const isTimer = stack.some(({ name }) => name === 'listOnTimeout');
  if (nearest < 0) return isTimer ? 'timers' : 'Node';
  const { file, name } = stack[nearest]!;
  const part = ours.find(([, pattern]) => pattern.test(`${file}:${name}`))?.[0] ?? 'other code of ours';
  if (part === 'log' || part === 'metrics') return part;
  if (stack.slice(nearest + 1).some((frame) => writing.test(frame.name))) return 'write to sockets';
  if (isTimer) return 'timers';
  // The same code reads heads of both kinds.
  const isResponse =
    part === 'parse the request' && stack.some((frame) => frame.file.includes('client-connection'));
  return isResponse ? 'parse the response' : part;
}

/** What made this turn of the event loop: a timer by its first function of ours, a collection, or serving requests. */
export function causeOf(stack: readonly Frame[]): string {
  if (stack.at(-1)?.name === '(garbage collector)') return 'collect garbage';
  const first = stack.find(isOurs);
  if (first === undefined) return 'Node';
  const isTimer = stack.some(({ name }) => name === 'listOnTimeout');
  if (first.file.startsWith('src/log/')) return `log: ${first.name}`;
  return isTimer ? `timer: ${first.file.slice('src/'.length)} ${first.name}` : 'requests';
}

function isOurs({ file }: Frame): boolean {
  return file.startsWith('src/');
}
