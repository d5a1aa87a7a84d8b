import { assertMethodIsServed, assertUnambiguousHead, readRequestHead } from '../../src/http/request-head.ts';
import { assertUnambiguousTarget, queryStart, requireReadings } from '../../src/http/request-target.ts';
import { UpstreamConnection } from '../../src/http1/client/client-connection.ts';
import type { UpstreamRequest } from '../../src/http1/client/client-request.ts';
import { headText } from '../../src/http1/message/head-text.ts';
import type { RequestHeadText } from '../../src/http1/message/message-head.ts';
import type { RequestFraming } from '../../src/http1/message/request-framing.ts';
import { ConnectionClock, phase } from '../../src/http1/server/connection-clock.ts';
import { type RequestEvents, RequestReader } from '../../src/http1/server/request-reader.ts';
import { createTargetLimits } from '../../src/http1/server/target-limits.ts';
import { nothingPasses, type PassedSpellings } from '../../src/rules/passed-spellings.ts';
import { FakeSocket } from '../support/servers/fake-socket.ts';
import { givenSocket } from '../support/servers/given-socket.ts';
import type { FuzzCase } from './fuzz-case.ts';
import { comparableFields, emptyReading, type Reading, type ReadMessage } from './reading.ts';

const timeLimits = {
  headerTimeoutMs: 1e9,
  keepAliveTimeoutMs: 1e9,
  bodyIdleTimeoutMs: 1e9,
  bodyJudgedAfterMs: 1e9,
  writeIdleTimeoutMs: 1e9,
};
const limits = {
  headerBytes: 64 * 1024,
  targets: createTargetLimits(64 * 1024, { maxBytes: 0, has: () => false }),
};
const passed: PassedSpellings = { ...nothingPasses, semicolons: true, encodedSlashes: true };

/** What Postern makes of the bytes, in those pieces. */
export function ourReading(fuzzed: FuzzCase, pieces: readonly Buffer[]): Reading {
  return fuzzed.kind === 'request' ? requestsOf(pieces) : responseOf(fuzzed, pieces);
}

function requestsOf(pieces: readonly Buffer[]): Reading {
  const reading = emptyReading();
  const socket = new FakeSocket().asSocket;
  const clock = new ConnectionClock(socket, timeLimits);
  const stop = (reason: string) => {
    reading.refusal = reason;
    reader.discardAll();
  };
  const end = (message: ReadMessage, closes: boolean) => {
    message.isWhole = true;
    if (closes) reader.discardAll();
    else clock.enter(phase.idle);
  };
  const events: RequestEvents = {
    onRequest(head, framing) {
      clock.enter(phase.exchange);
      const refusal = refusalOf(head, framing);
      if (refusal !== null) {
        stop(refusal);
        return;
      }
      const message: ReadMessage = {
        start: `${head.method} ${head.target} 1.${head.minor}`,
        fields: comparableFields(head.fields),
        body: '',
        isWhole: false,
      };
      reading.messages.push(message);
      if (reader.body.done) end(message, framing.closes);
      else
        reader.body.reader = {
          leastBytesPerSecond: 0,
          wholeTimeoutMs: Number.POSITIVE_INFINITY,
          onBodyChunk(chunk) {
            message.body += chunk.toString('latin1');
          },
          onBodyEnd: () => end(message, framing.closes),
          onBodyError: (error) => stop(error.code),
        };
    },
    onUnreadable: (refusal) => stop(refusal.code),
    onBodyBroken: (refusal) => stop(refusal.code),
    onDiscarded() {},
    onTooMuchDiscarded() {},
  };
  const reader = new RequestReader(socket, clock, limits, events);
  for (const piece of pieces) if (piece.length > 0) reader.push(piece);
  return reading;
}

/** A correctly split request may still be refused before it is acted on. */
function refusalOf(head: RequestHeadText, framing: RequestFraming): string | null {
  const { method, target, minor, fields } = head;
  try {
    assertUnambiguousHead(readRequestHead(fields, framing), minor);
    assertMethodIsServed(method);
    const end = queryStart(target);
    if (!assertUnambiguousTarget(target, end, passed)) requireReadings(target.slice(0, end));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function responseOf({ method, ends }: FuzzCase, pieces: readonly Buffer[]): Reading {
  const reading = emptyReading();
  const socket = new FakeSocket();
  const owner = { onFree() {}, onGone() {}, onSwitched() {} };
  const connection = new UpstreamConnection(givenSocket(socket.asSocket), owner, 1e9);
  let message: ReadMessage | null = null;
  const request: UpstreamRequest = {
    connection: null,
    waitingSince: 0,
    takenAt: 0,
    method,
    target: '/',
    fields: ['Host', 'a'],
    headText: headText('GET / HTTP/1.1', ['Host', 'a']),
    chunked: false,
    hasBody: false,
    isUploading: false,
    upgrade: null,
    connectTimeoutMs: 1e9,
    responseTimeoutMs: 1e9,
    idleTimeoutMs: 1e9,
    onSent() {},
    onDrain() {},
    onInterim() {},
    onHead(status, fields) {
      message = { start: String(status), fields: comparableFields(fields), body: '', isWhole: false };
      reading.messages.push(message);
    },
    onData(chunk) {
      message!.body += chunk.toString('latin1');
    },
    onCaughtUp() {},
    onEnd() {
      message!.isWhole = true;
    },
    onSwitch() {
      reading.isOver = true;
    },
    onError(error) {
      reading.refusal = error.kind;
    },
  };
  socket.emit('connect');
  connection.send(request);
  for (const piece of pieces) if (piece.length > 0) socket.receive(piece);
  if (ends) socket.emit('end');
  return reading;
}
