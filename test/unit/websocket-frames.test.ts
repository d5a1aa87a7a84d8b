import fc from 'fast-check';
import t from 'tap';
import * as ws from 'ws';
import { closeFrame, FrameFollower, policyViolation } from '../../src/proxy/websocket-frames.ts';

interface Frame {
  readonly opcode: number;
  readonly length: number;
  readonly mask: boolean;
  readonly fin: boolean;
}

/** A real encoder; the types of `ws` leave it out. */
const { Sender } = ws as unknown as {
  Sender: { frame(data: Buffer, options: object): Buffer[] };
};

function encode({ opcode, length, mask, fin }: Frame): Buffer {
  const options = { opcode, mask, fin, rsv1: false, readOnly: true };
  return Buffer.concat(Sender.frame(Buffer.alloc(length, 0x88), options));
}

/** Lengths around those where the header changes its size. */
const lengths = fc.oneof(
  fc.constantFrom(0, 1, 125, 126, 127, 65_535, 65_536, 65_537),
  fc.integer({ min: 0, max: 300 }),
);
const dataFrame = fc.record({
  opcode: fc.constantFrom(0, 1, 2, 9, 10),
  length: lengths,
  mask: fc.boolean(),
  fin: fc.boolean(),
});

/** Cuts the bytes into pieces of the sizes, again and again. */
function* pieces(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

t.test('a frame may stand where one has ended, and nowhere else', (t) => {
  const sizes = fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(dataFrame, { minLength: 1, maxLength: 8 }), sizes, (frames, sizes) => {
      const encoded = frames.map(encode);
      const boundaries = new Set<number>([0]);
      let total = 0;
      for (const { length } of encoded) {
        total += length;
        boundaries.add(total);
      }
      const follower = new FrameFollower();
      let at = 0;
      for (const piece of pieces(Buffer.concat(encoded), sizes)) {
        follower.pass(piece);
        at += piece.length;
        if (follower.atBoundary !== boundaries.has(at)) return false;
      }
      return follower.atBoundary;
    }),
  );
  t.end();
});

t.test('byte by byte no boundary is missed and none invented', (t) => {
  fc.assert(
    fc.property(fc.array(dataFrame, { minLength: 1, maxLength: 3 }), (frames) => {
      const encoded = frames.map(encode);
      const follower = new FrameFollower();
      let boundaries = 0;
      for (const byte of Buffer.concat(encoded)) {
        follower.pass(Buffer.of(byte));
        if (follower.atBoundary) boundaries++;
      }
      return boundaries === frames.length;
    }),
    { numRuns: 20 },
  );
  t.end();
});

t.test('nothing may stand after a close frame', (t) => {
  for (const mask of [true, false]) {
    const follower = new FrameFollower();
    follower.pass(encode({ opcode: 8, length: 2, mask, fin: true }));
    t.notOk(follower.atBoundary);
    follower.pass(encode({ opcode: 1, length: 5, mask, fin: true }));
    t.notOk(follower.atBoundary);
  }
  t.end();
});

t.test('a length beyond 32 bits is followed to its end', (t) => {
  const follower = new FrameFollower();
  follower.pass(Buffer.from([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0]));
  follower.pass(Buffer.alloc(65_536));
  t.notOk(follower.atBoundary);
  t.end();
});

t.test('the close frame is what a real encoder makes', (t) => {
  const payload = Buffer.from([policyViolation >> 8, policyViolation & 0xff]);
  const frame = Buffer.concat(Sender.frame(payload, { opcode: 8, fin: true, readOnly: true, rsv1: false }));
  t.same(closeFrame(policyViolation, false), frame);
  const generateMask = (mask: Buffer) => mask.fill(0);
  const masked = { opcode: 8, fin: true, mask: true, generateMask, readOnly: true, rsv1: false };
  t.same(closeFrame(policyViolation, true), Buffer.concat(Sender.frame(payload, masked)));
  t.end();
});
