/** Follows one direction of a WebSocket by its frame headers (RFC 6455 §5.2), to know when a frame of our own may be inserted. */
export class FrameFollower {
  /** Number of payload bytes of the current frame that are still to come. */
  #payload = 0;
  /** Bytes received so far of the current frame's header. */
  #header: number[] = [];
  /** True once a close frame has begun, after which no frame may follow. */
  closing = false;

  /** True if the next byte begins a frame. */
  get atBoundary(): boolean {
    return this.#payload === 0 && this.#header.length === 0 && !this.closing;
  }

  pass(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#payload > 0) {
        const step = Math.min(this.#payload, bytes.length - at);
        this.#payload -= step;
        at += step;
      } else {
        this.#header.push(bytes[at++]!);
        if (this.#header.length >= 2 && this.#header.length === headerLength(this.#header))
          this.#beginPayload();
      }
    }
  }

  #beginPayload(): void {
    const header = this.#header;
    const opcode = header[0]! & 0x0f;
    const short = header[1]! & 0x7f;
    let length = short;
    if (short === 126) length = header[2]! * 256 + header[3]!;
    else if (short === 127) length = header.slice(2, 10).reduce((sum, byte) => sum * 256 + byte, 0);
    this.#payload = length;
    this.#header = [];
    if (opcode === 8) this.closing = true;
  }
}

function headerLength(header: readonly number[]): number {
  const short = header[1]! & 0x7f;
  const masked = (header[1]! & 0x80) !== 0;
  return 2 + (short === 127 ? 8 : short === 126 ? 2 : 0) + (masked ? 4 : 0);
}

/** A close frame (RFC 6455 §5.5.1) as a server sends it or, if `masked`, as a client must. */
export function closeFrame(code: number, masked: boolean): Buffer {
  const payload = [code >> 8, code & 0xff];
  // Any masking key will do; zeros leave the payload as it is.
  return Buffer.from(masked ? [0x88, 0x82, 0, 0, 0, 0, ...payload] : [0x88, 0x02, ...payload]);
}

/** Close code for a credential that has ended (RFC 6455 §7.4.1). */
export const policyViolation = 1008;
