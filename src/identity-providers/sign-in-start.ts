import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes as nodeRandomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** The start of a sign-in by a browser. Nothing is stored: everything is in its ticket or derived from its id. */
export interface SignInStart {
  /** 128 random bits in base64url. */
  readonly id: string;
  /** The first six characters of the id, in the name of the browser's cookie. */
  readonly label: string;
  /** The provider's name. */
  readonly provider: string;
  /** Epoch ms. */
  readonly expires: number;
  /** Location of the front end after the sign-in. */
  readonly returnTo: string | null;
  /** Value of the cookie of the browser that began the sign-in, base64url. */
  readonly binding: string;
  /** The start itself, sealed: it passes through the provider as `nonce` or `state`, whichever the response returns. */
  readonly ticket: string;
  /** A value unique to this start, for the other of `nonce` and `state`. */
  readonly companion: string;
  /** Verifier of PKCE (RFC 7636 §4.1). */
  readonly codeVerifier: string;
}

/** Begins sign-ins and recognises them when they return. */
export interface SignInStarts {
  begin(start: {
    readonly provider: string;
    readonly returnTo: string | null;
    /** Epoch ms. */
    readonly expires: number;
  }): SignInStart;
  /** Opens a ticket of any provider, expired or not; undefined for any other text. */
  open(ticket: string): SignInStart | undefined;
}

const idBytes = 16;
const labelLength = 6;
const tagBytes = 16;
const maxTicketLength = 16 * 1024;
// Each ticket has its own key, derived from its random id, so the nonce of AES-GCM need not differ as well.
const onlyNonce = Buffer.alloc(12);
const cipher = 'aes-256-gcm';

/** Creates the starts of one tenant, the same in every process that has `secret`, of at least 32 bytes. */
export function createSignInStarts(options: {
  readonly secret: Uint8Array;
  /** Default: node:crypto's. */
  readonly randomBytes?: (size: number) => Buffer;
}): SignInStarts {
  const { secret, randomBytes = nodeRandomBytes } = options;
  if (secret.byteLength < 32)
    throw new RangeError('the secret for sign-in starts must have at least 32 bytes');
  const key = new StartKey(secret);

  return {
    begin({ provider, returnTo, expires }) {
      const id = randomBytes(idBytes).toString('base64url');
      const fields: Fields = [provider, expires, returnTo];
      return key.startOf(id, key.seal(id, fields), fields);
    },

    open(ticket) {
      if (ticket.length > maxTicketLength) return undefined;
      const bytes = Buffer.from(ticket, 'base64url');
      if (bytes.length <= idBytes + tagBytes || bytes.toString('base64url') !== ticket) return undefined;
      const id = bytes.subarray(0, idBytes).toString('base64url');
      try {
        return key.startOf(id, ticket, key.unseal(bytes, id));
      } catch {
        return undefined;
      }
    },
  };
}

type Derived = 'ticket' | 'binding' | 'companion' | 'code verifier';
/** Content of a ticket beside the id. */
type Fields = [provider: string, expires: number, returnTo: string | null];

/** Key of the tenant's starts: everything about a start is sealed under it or derived from it. */
class StartKey {
  readonly #key: Buffer;

  constructor(secret: Uint8Array) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'postern sign-in start 2', 32));
  }

  seal(id: string, fields: Fields): string {
    const sealing = createCipheriv(cipher, this.#derive('ticket', id), onlyNonce);
    const sealed = [sealing.update(JSON.stringify(fields)), sealing.final(), sealing.getAuthTag()];
    return Buffer.concat([Buffer.from(id, 'base64url'), ...sealed]).toString('base64url');
  }

  /** Unseals bytes. Throws if they were not sealed under this key. */
  unseal(bytes: Buffer, id: string): Fields {
    const opening = createDecipheriv(cipher, this.#derive('ticket', id), onlyNonce, {
      authTagLength: tagBytes,
    });
    opening.setAuthTag(bytes.subarray(-tagBytes));
    const text = Buffer.concat([opening.update(bytes.subarray(idBytes, -tagBytes)), opening.final()]);
    return JSON.parse(text.toString()) as Fields;
  }

  startOf(id: string, ticket: string, [provider, expires, returnTo]: Fields): SignInStart {
    return {
      id,
      label: id.slice(0, labelLength),
      ticket,
      provider,
      expires,
      returnTo,
      binding: this.#derive('binding', id).toString('base64url'),
      companion: this.#derive('companion', id).toString('base64url'),
      codeVerifier: this.#derive('code verifier', id).toString('base64url'),
    };
  }

  #derive(purpose: Derived, id: string): Buffer {
    return createHmac('sha256', this.#key).update(`${purpose}:${id}`).digest();
  }
}

/**
 * True if a browser with these cookie values began the start. One match is enough: a cookie that a neighbouring host planted
 * beside it must not prevent the sign-in.
 */
export function isBoundTo(start: SignInStart, values: readonly string[]): boolean {
  const binding = Buffer.from(start.binding);
  return values.some((value) => {
    const bytes = Buffer.from(value);
    return bytes.length === binding.length && timingSafeEqual(bytes, binding);
  });
}
