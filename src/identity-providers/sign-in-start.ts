import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** A named host to go to after a sign-in, as the parameters of the sign-in page name it. */
export interface StartTowardsHost {
  /** Origin of the host, and path, query and fragment there. */
  readonly address: string;
  /** Hash of the start cookie that the browser has at that host. */
  readonly start: string;
  readonly isAgain: boolean;
}

/** The start of a sign-in by a browser. Nothing is stored: everything is in its ticket or derived from its id. */
export interface SignInStart {
  /** 128 random bits in base64url. */
  readonly id: string;
  /** The first six characters of the id, in the name of the browser's cookie. */
  readonly label: string;
  /** The provider's name. */
  readonly provider: string;
  /** Instant of expiry, epoch ms. */
  readonly expires: number;
  /** Location of the front end to go to after the sign-in; null if none was given. */
  readonly returnTo: string | null;
  /** Named host to go to instead; null if none was given. */
  readonly towardsHost: StartTowardsHost | null;
  /** Value of the cookie of the browser that began the sign-in, base64url. */
  readonly binding: string;
  /** The start itself, sealed: it passes through the provider as `nonce` or `state`, whichever the response returns. */
  readonly ticket: string;
  /** A value unique to this start, for the other of `nonce` and `state`. */
  readonly companion: string;
  /** Verifier of PKCE (RFC 7636 §4.1). */
  readonly codeVerifier: string;
}

const idBytes = 16;
const labelLength = 6;
const tagBytes = 16;
const maxTicketLength = 16 * 1024;
// Each ticket has its own key, derived from its random id, so the nonce of AES-GCM need not differ as well.
const onlyNonce = Buffer.alloc(12);
const cipher = 'aes-256-gcm';

type Derived = 'ticket' | 'binding' | 'companion' | 'code verifier';
/** A sign-in that begins; `towardsHost` is null by default. */
type BegunSignIn = Pick<SignInStart, 'provider' | 'returnTo' | 'expires'> &
  Partial<Pick<SignInStart, 'towardsHost'>>;

/** Content of a ticket besides the id; tickets of earlier versions have no `towardsHost`, nor have those that lead to no host. */
type Fields = [
  provider: string,
  expires: number,
  returnTo: string | null,
  towardsHost?: [address: string, start: string, isAgain: boolean],
];

/**
 * Begins one tenant's sign-ins and recognises them when they return, the same in every process that has the secret: everything
 * about a start is sealed under one key or derived from it.
 */
export class SignInStarts {
  readonly #key: Buffer;

  /** `secret`: at least 32 bytes. */
  constructor(secret: Uint8Array) {
    if (secret.byteLength < 32)
      throw new RangeError('the secret for sign-in starts must have at least 32 bytes');
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'postern sign-in start 2', 32));
  }

  /** Begins a sign-in. */
  begin({ provider, returnTo, towardsHost = null, expires }: BegunSignIn): SignInStart {
    const id = randomBytes(idBytes).toString('base64url');
    const fields: Fields = [provider, expires, returnTo];
    if (towardsHost !== null) fields.push([towardsHost.address, towardsHost.start, towardsHost.isAgain]);
    return this.#startOf(id, this.#seal(id, fields), fields);
  }

  /** Opens a ticket of any provider, expired or not; undefined for any other text. */
  open(ticket: string): SignInStart | undefined {
    if (ticket.length > maxTicketLength) return undefined;
    const bytes = Buffer.from(ticket, 'base64url');
    if (bytes.length <= idBytes + tagBytes || bytes.toString('base64url') !== ticket) return undefined;
    const id = bytes.subarray(0, idBytes).toString('base64url');
    try {
      return this.#startOf(id, ticket, this.#unseal(bytes, id));
    } catch {
      return undefined;
    }
  }

  #seal(id: string, fields: Fields): string {
    const sealing = createCipheriv(cipher, this.#derive('ticket', id), onlyNonce);
    const sealed = [sealing.update(JSON.stringify(fields)), sealing.final(), sealing.getAuthTag()];
    return Buffer.concat([Buffer.from(id, 'base64url'), ...sealed]).toString('base64url');
  }

  /** Throws if the bytes were not sealed under this key. */
  #unseal(bytes: Buffer, id: string): Fields {
    const opening = createDecipheriv(cipher, this.#derive('ticket', id), onlyNonce, {
      authTagLength: tagBytes,
    });
    opening.setAuthTag(bytes.subarray(-tagBytes));
    const text = Buffer.concat([opening.update(bytes.subarray(idBytes, -tagBytes)), opening.final()]);
    return JSON.parse(text.toString()) as Fields;
  }

  #startOf(id: string, ticket: string, [provider, expires, returnTo, towards]: Fields): SignInStart {
    return {
      id,
      label: id.slice(0, labelLength),
      ticket,
      provider,
      expires,
      returnTo,
      towardsHost:
        towards === undefined ? null : { address: towards[0], start: towards[1], isAgain: towards[2] },
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
 * True if one of these cookie values is that of the browser that began the sign-in. One match is enough: another cookie, planted
 * by a neighbouring host, must not prevent the sign-in.
 */
export function isBoundTo(start: SignInStart, values: readonly string[]): boolean {
  const binding = Buffer.from(start.binding);
  return values.some((value) => {
    const bytes = Buffer.from(value);
    return bytes.length === binding.length && timingSafeEqual(bytes, binding);
  });
}
