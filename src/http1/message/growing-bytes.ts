const minBufferBytes = 512;
const noBytes = Buffer.alloc(0);

/** Joins the kept bytes of a connection with those that follow, in linear time however small the pieces are. */
export class GrowingBytes {
  #buffer: Buffer = noBytes;
  #end = 0;

  /** Returns `kept` followed by `chunk`; only `chunk` is copied if `kept` is the end of the previous result. */
  join(kept: Buffer, chunk: Buffer): Buffer {
    const length = kept.length + chunk.length;
    const continues =
      kept.buffer === this.#buffer.buffer &&
      kept.byteOffset + kept.length === this.#buffer.byteOffset + this.#end;
    if (!continues || this.#end + chunk.length > this.#buffer.length) {
      // Slow: memory that isn't shared with other buffers, which could retain it.
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(minBufferBytes, 2 * length));
      this.#end = kept.copy(this.#buffer);
    }
    this.#end += chunk.copy(this.#buffer, this.#end);
    return this.#buffer.subarray(this.#end - length, this.#end);
  }

  /** Returns the bytes in this object's own memory: a copy, unless {@link join} returned them. */
  keep(bytes: Buffer): Buffer {
    return bytes.buffer === this.#buffer.buffer ? bytes : this.join(bytes, noBytes);
  }

  clear(): void {
    this.#buffer = noBytes;
    this.#end = 0;
  }
}

/** Returns the bytes themselves, or a copy if they are less than a quarter of the memory that they would retain. */
export function withoutSurroundings(bytes: Buffer): Buffer {
  if (bytes.length * 4 >= bytes.buffer.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
