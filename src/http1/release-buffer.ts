import type { Socket } from 'node:net';

/** Smaller ones are not worth the work. */
const worthFreeingBytes = 16 * 1024;

/**
 * Frees the memory of a piece that came off one socket and was written to another, if the kernel has taken all of it;
 * the piece is empty afterwards. V8 would free it with some later collection, and each read would until then get
 * memory that no cache holds: twice the CPU time for a byte, and the memory besides.
 *
 * Only for a piece that nobody else looks at; one that shares its memory with another stays as it is.
 */
export function releaseBuffer(piece: Buffer, writtenTo: Socket): void {
  const { buffer } = piece;
  if (piece.length < worthFreeingBytes || piece.length !== buffer.byteLength) return;
  if (writtenTo.writableLength === 0) (buffer as ArrayBuffer).transfer(0);
}
