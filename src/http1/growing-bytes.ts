const leastRoomBytes = 512;
const noRoom = Buffer.alloc(0);

/** Joins what is kept of a connection's bytes with what comes next, in time linear in the bytes however they are cut. */
export class GrowingBytes {
  #room: Buffer = noRoom;
  #end = 0;

  /** `kept`, then `chunk`: where `kept` is the end of what was joined last, only `chunk` is copied. */
  join(kept: Buffer, chunk: Buffer): Buffer {
    const length = kept.length + chunk.length;
    const continues =
      kept.buffer === this.#room.buffer &&
      kept.byteOffset + kept.length === this.#room.byteOffset + this.#end;
    if (!continues || this.#end + chunk.length > this.#room.length) {
      // Slow: memory of its own, which nobody else holds on to.
      this.#room = Buffer.allocUnsafeSlow(Math.max(leastRoomBytes, 2 * length));
      this.#end = kept.copy(this.#room);
    }
    this.#end += chunk.copy(this.#room, this.#end);
    return this.#room.subarray(this.#end - length, this.#end);
  }

  /** Lets go of the memory. */
  clear(): void {
    this.#room = noRoom;
    this.#end = 0;
  }
}

/** The bytes as they are, or a copy where they are a small part of what they were cut from. */
export function withoutSurroundings(bytes: Buffer): Buffer {
  if (bytes.length * 4 >= bytes.buffer.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
