import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes as nodeRandomBytes,
} from 'node:crypto';

/** A sign-in that a browser began. Nothing of it is stored: all of it is in its ticket, or follows from its id. */
export interface SignInStart {
  /** 128 random bits in base64url. */
  readonly id: string;
  /** The provider's name. */
  readonly provider: string;
  /** Epoch ms. */
  readonly expires: number;
  /** Where the front end goes afterwards. */
  readonly returnTo: string | null;
  /** SHA-256 of the browser's binding value, in base64url. */
  readonly bindingHash: string;
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
    /** As {@link bindingOf} or `newBinding` gave it. */
    readonly binding: string;
    readonly returnTo: string | null;
    /** Epoch ms. */
    readonly expires: number;
  }): SignInStart;
  /** The start whose ticket it is, over or not, whoever's it is; undefined for any other text. */
  open(ticket: string): SignInStart | undefined;
  /** A value that binds starts to one browser, for its cookie: 256 random bits in base64url. */
  newBinding(): string;
}

const idBytes = 16;
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
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'postern sign-in start 1', 32));

  function derive(purpose: 'ticket' | 'companion' | 'code verifier', id: string): Buffer {
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
    return JSON.parse(text.toString()) as [string, number, string, string | null];
  }

  function complete(
    id: string,
    ticket: string,
    start: Pick<SignInStart, 'provider' | 'expires' | 'bindingHash' | 'returnTo'>,
  ): SignInStart {
    const companion = derive('companion', id).toString('base64url');
    return {
      id,
      ticket,
      ...start,
      companion,
      codeVerifier: derive('code verifier', id).toString('base64url'),
    };
  }

  return {
    begin({ provider, binding, returnTo, expires }) {
      const id = randomBytes(idBytes).toString('base64url');
      const bindingHash = hashOf(binding);
      const ticket = seal(id, [provider, expires, bindingHash, returnTo]);
      return complete(id, ticket, { provider, expires, bindingHash, returnTo });
    },

    open(ticket) {
      if (ticket.length > maxTicketLength) return undefined;
      const bytes = Buffer.from(ticket, 'base64url');
      if (bytes.length <= idBytes + tagBytes || bytes.toString('base64url') !== ticket) return undefined;
      const id = bytes.subarray(0, idBytes).toString('base64url');
      try {
        const [provider, expires, bindingHash, returnTo] = unseal(bytes, id);
        return complete(id, ticket, { provider, expires, bindingHash, returnTo });
      } catch {
        return undefined;
      }
    },

    newBinding: () => randomBytes(32).toString('base64url'),
  };
}

/**
 * The browser's binding value from the cookies of that name; undefined when there is none in the form of `newBinding`.
 * Two different ones are none: one of them could have been planted by a neighbouring host.
 */
export function bindingOf(cookieValues: readonly string[]): string | undefined {
  const [value, ...others] = new Set(cookieValues);
  return value !== undefined && others.length === 0 && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : undefined;
}

/** Whether that browser began the start, at that provider, and it is not over. */
export function isStartOf(
  start: SignInStart,
  by: { readonly provider: string; readonly binding: string | undefined; readonly now: number },
): boolean {
  return (
    start.provider === by.provider &&
    by.binding !== undefined &&
    // Plain comparison: both sides are hashes, of which time tells nothing worth knowing.
    start.bindingHash === hashOf(by.binding) &&
    by.now < start.expires
  );
}

function hashOf(binding: string): string {
  return createHash('sha256').update(binding).digest('base64url');
}
