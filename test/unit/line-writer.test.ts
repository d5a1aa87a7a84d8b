import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createLineWriter } from '../../src/log/line-writer.ts';
import { judgeElapsed } from '../support/elapsed.ts';
import { eventually } from '../support/eventually.ts';

const lines = Array.from({ length: 3_000 }, (_, i) => `${i} ${'ü'.repeat(i % 300)}\n`);
const buffer = Buffer.alloc(1024 * 1024);

/** A pipe that is read when asked. */
function openPipe(t: Test) {
  const path = join(t.testdir(), 'pipe');
  execFileSync('mkfifo', [path]);
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  t.teardown(() => closeSync(descriptor));
  const come: Buffer[] = [];
  let bytes = 0;
  /** How many bytes have come out of it so far. */
  function read(): number {
    try {
      for (;;)
        bytes += come[come.push(Buffer.from(buffer.subarray(0, readSync(descriptor, buffer)))) - 1]!.length;
    } catch {
      return bytes;
    }
  }
  return { descriptor, read, text: () => Buffer.concat(come).toString() };
}

t.test('lines come out whole and in their order, however slowly they are read', async (t) => {
  const { descriptor, read, text } = openPipe(t);
  const writer = createLineWriter(descriptor);
  for (const line of lines) writer.write(line);
  const written = writer.written();
  await eventually('all of it', () => read() === Buffer.byteLength(lines.join('')));
  t.equal(text(), lines.join(''));
  await written;
  await writer.written();
});

t.test('a single line is written soon, without a flush', async (t) => {
  const { descriptor, read, text } = openPipe(t);
  createLineWriter(descriptor).write('alone\n');
  await eventually('it', () => read() > 0);
  t.equal(text(), 'alone\n');
});

t.test('a stalled reader loses what is beyond 32 MiB, and nothing before it', async (t) => {
  const { descriptor, read, text } = openPipe(t);
  const writer = createLineWriter(descriptor);
  const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
  for (let i = 0; i < 40; i++) writer.write(line);
  await sleep(150);
  await eventually('what was kept', () => read() >= 32 * line.length);
  await writer.written();
  read();
  t.ok(text() === line.repeat(32));
});

t.test('flush writes pending lines once, before it returns', async (t) => {
  const path = join(t.testdir(), 'log');
  const writer = createLineWriter(path);
  for (const line of lines) writer.write(line);
  writer.flush();
  await sleep(150);
  writer.write('last\n');
  writer.flush();
  const sorted = (text: string) => text.split('\n').sort();
  // The piece that a thread was writing meanwhile may stand after the others.
  t.same(sorted(readFileSync(path, 'utf8')), sorted(`${lines.join('')}last\n`));
});

t.test('a flush gives up on a reader that has stalled or gone', async (t) => {
  const { descriptor } = openPipe(t);
  const writer = createLineWriter(descriptor);
  for (const line of lines) writer.write(line);
  const begun = performance.now();
  writer.flush();
  judgeElapsed(t, begun, 2_000);

  const closed = openSync(join(t.testdir(), 'closed'), 'w');
  const toNowhere = createLineWriter(closed);
  closeSync(closed);
  toNowhere.write('lost\n');
  toNowhere.flush();
  await toNowhere.written();
});
