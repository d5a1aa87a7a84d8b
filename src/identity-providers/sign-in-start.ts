import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes as nodeRandomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** A sign-in that a browser began. Nothing of it is stored: all of it is in its ticket, or follows from its id. */
export interface SignInStart {
  /** 128 random bits in base64url. */
  readonly id: string;
  /** Its first six characters, which the browser's cookie is named after. */
  readonly label: string;
  /** The provider's name. */
  readonly provider: string;
  /** Epoch ms. */
  readonly expires: number;
  /** Where the front end goes afterwards. */
  readonly returnTo: string | null;
  /** What the browser that began it has in its cookie, and nobody else: in base64url. */
  readonly binding: string;
  /** The start itself, sealed: it travels through the provider as `nonce` or `state`, whichever comes back to us. */
  readonly ticket: string;
  /** A value that belongs to this start alone, for the other of the two. */
  readonly companion: string;
  /** For PKCE (RFC 7636 §4.1). */
  readonly codeVerifier: string;
}

/** Begins sign-ins and knows them again. */
export interface SignInStarts {
  begin(start: {
    readonly provider: string;
    readonly returnTo: string | null;
    /** Epoch ms. */
    readonly expires: number;
  }): SignInStart;
  /** The start whose ticket it is, over or not, whoever's it is; undefined for any other text. */
  open(ticket: string): SignInStart | undefined;
}

const idBytes = 16;
const labelLength = 6;
const tagBytes = 16;
const maxTicketLength = 16 * 1024;
// Each ticket has a key of its own, made from its random id: the nonce of AES-GCM need not differ as well.
const onlyNonce = Buffer.alloc(12);
const cipher = 'aes-256-gcm';

/** Creates the starts of one tenant, alike in every process that has `secret`, of at least 32 bytes. */
export function createSignInStarts(options: {
  readonly secret: Uint8Array;
  /** Default: node:crypto's. */
  readonly randomBytes?: (size: number) => Buffer;
}): SignInStarts {
  const { secret, randomBytes = nodeRandomBytes } = options;
  if (secret.byteLength < 32) throw new RangeError('a secret for sign-in starts has at least 32 bytes');
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'postern sign-in start 2', 32));

  function derive(purpose: 'ticket' | 'binding' | 'companion' | 'code verifier', id: string): Buffer {
    return createHmac('sha256', key).update(`${purpose}:${id}`).digest();
  }

  function seal(id: string, fields: readonly unknown[]): string {
    const sealing = createCipheriv(cipher, derive('ticket', id), onlyNonce);
    const sealed = [sealing.update(JSON.stringify(fields)), sealing.final(), sealing.getAuthTag()];
    return Buffer.concat([Buffer.from(id, 'base64url'), ...sealed]).toString('base64url');
  }

  function unseal(bytes: Buffer, id: string) {
    const opening = createDecipheriv(cipher, derive('ticket', id), onlyNonce, { authTagLength: tagBytes });
    opening.setAuthTag(bytes.subarray(-tagBytes));
    const text = Buffer.concat([opening.update(bytes.subarray(idBytes, -tagBytes)), opening.final()]);
    return JSON.parse(text.toString()) as [string, number, string | null];
  }

  function complete(
    id: string,
    ticket: string,
    start: Pick<SignInStart, 'provider' | 'expires' | 'returnTo'>,
  ): SignInStart {
    return {
      id,
      label: id.slice(0, labelLength),
      ticket,
      ...start,
      binding: derive('binding', id).toString('base64url'),
      companion: derive('companion', id).toString('base64url'),
      codeVerifier: derive('code verifier', id).toString('base64url'),
    };
  }

  return {
    begin({ provider, returnTo, expires }) {
      const id = randomBytes(idBytes).toString('base64url');
      const ticket = seal(id, [provider, expires, returnTo]);
      return complete(id, ticket, { provider, expires, returnTo });
    },

    open(ticket) {
      if (ticket.length > maxTicketLength) return undefined;
      const bytes = Buffer.from(ticket, 'base64url');
      if (bytes.length <= idBytes + tagBytes || bytes.toString('base64url') !== ticket) return undefined;
      const id = bytes.subarray(0, idBytes).toString('base64url');
      try {
        const [provider, expires, returnTo] = unseal(bytes, id);
        return complete(id, ticket, { provider, expires, returnTo });
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * Whether a browser with those values in its cookie began the start. One that fits is enough: what a neighbouring host
 * planted beside it must not end a sign-in.
 */
export function isBoundTo(start: SignInStart, values: readonly string[]): boolean {
  const binding = Buffer.from(start.binding);
  return values.some((value) => {
    const bytes = Buffer.from(value);
    return bytes.length === binding.length && timingSafeEqual(bytes, binding);
  });
}
