import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** The way of a signed-in browser to a named host, which a code carries there. */
export interface HostCode {
  /** 128 random bits in base64url, by which a code is used only once. */
  readonly id: string;
  readonly sessionId: string;
  /** Name of the host, in lower case, without port. */
  readonly host: string;
  /** Hash of the value of the start cookie, which the browser must have at that host. */
  readonly start: string;
  /** Path, query and fragment to go to there. */
  readonly path: string;
  /** True if an earlier code found no start cookie: another such failure isn't tried again. */
  readonly isAgain: boolean;
  /** Instant of expiry, epoch ms. */
  readonly expires: number;
}

/** Content of a code besides its id. */
type Fields = [
  sessionId: string,
  host: string,
  start: string,
  path: string,
  isAgain: boolean,
  expires: number,
];

const idBytes = 16;
const tagBytes = 16;
const maxCodeLength = 16 * 1024;
// Each code has its own key, derived from its random id, so the nonce of AES-GCM need not differ as well.
const onlyNonce = Buffer.alloc(12);
const cipher = 'aes-256-gcm';

/**
 * Writes and opens the codes of one tenant, the same in every process that has the secret. A code is sealed: what it holds can
 * neither be read nor changed on its way through the browser.
 */
export class HostCodes {
  readonly #key: Buffer;

  /** `secret`: at least 32 bytes. */
  constructor(secret: Uint8Array) {
    if (secret.byteLength < 32) throw new RangeError('the secret for codes must have at least 32 bytes');
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'postern host code 1', 32));
  }

  /** Writes a new code, in base64url. */
  write({ sessionId, host, start, path, isAgain, expires }: Omit<HostCode, 'id'>): string {
    const id = randomBytes(idBytes);
    const fields: Fields = [sessionId, host, start, path, isAgain, expires];
    const sealing = createCipheriv(cipher, this.#keyOf(id), onlyNonce);
    const sealed = [sealing.update(JSON.stringify(fields)), sealing.final(), sealing.getAuthTag()];
    return Buffer.concat([id, ...sealed]).toString('base64url');
  }

  /** Opens a code, expired or not; undefined for any other text. */
  open(text: string): HostCode | undefined {
    if (text.length > maxCodeLength) return undefined;
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length <= idBytes + tagBytes || bytes.toString('base64url') !== text) return undefined;
    const id = bytes.subarray(0, idBytes);
    const opening = createDecipheriv(cipher, this.#keyOf(id), onlyNonce, { authTagLength: tagBytes });
    opening.setAuthTag(bytes.subarray(-tagBytes));
    try {
      const opened = [opening.update(bytes.subarray(idBytes, -tagBytes)), opening.final()];
      const [sessionId, host, start, path, isAgain, expires] = JSON.parse(
        Buffer.concat(opened).toString(),
      ) as Fields;
      return { id: id.toString('base64url'), sessionId, host, start, path, isAgain, expires };
    } catch {
      return undefined;
    }
  }

  #keyOf(id: Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(id).digest();
  }
}
