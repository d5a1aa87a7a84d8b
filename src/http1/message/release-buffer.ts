import type { Socket } from 'node:net';

/** Minimum size, bytes, of a buffer that is released: smaller ones aren't worth the work. */
const minBytes = 16 * 1024;

/**
 * Frees the memory of a piece that was read from one socket and written to another, if the kernel has accepted all of it; the
 * piece is empty afterwards. V8 would free the memory only in a later garbage collection; until then, each read would get memory
 * that isn't in the CPU's caches, which doubles the CPU time per byte.
 *
 * Only for a piece that nothing else uses; a piece that shares its memory with others is left alone.
 */
export function releaseBuffer(piece: Buffer, writtenTo: Socket): void {
  const { buffer } = piece;
  if (piece.length < minBytes || piece.length !== buffer.byteLength) return;
  if (writtenTo.writableLength === 0) (buffer as ArrayBuffer).transfer(0);
}
