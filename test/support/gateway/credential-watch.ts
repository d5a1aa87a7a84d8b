import { isApiKey } from '../../../src/credentials/api-key.ts';
import type { SecretWatch } from './secret-watch.ts';

/** A watch over the requests that an upstream receives: none may hold a credential of Postern's. */
export interface CredentialWatch {
  /** Searches a request as it arrives, before a test may have removed it from the record. */
  search(target: string, rawHeaders: readonly string[]): void;
  /** Searches the head of a request, or whatever else came, as latin1. */
  searchText(text: string): void;
  /** Throws if a request held a credential. */
  assertNone(): void;
}

/** The headers in which an application gets what is its own, in any spelling. */
const ofCredentials = /^(?:proxy[^a-z0-9])?authorization$|^x[^a-z0-9]api[^a-z0-9]key$/i;

/**
 * Creates the watch of an upstream. It knows API keys, access tokens and cookies by their form, wherever they are in a target or a
 * header: as they are, percent-encoded, or in base64 of any alphabet. `secrets` are looked for as well, in the headers of
 * credentials.
 */
export function createCredentialWatch(secrets?: Pick<SecretWatch, 'heldIn'>): CredentialWatch {
  const found: string[] = [];
  return {
    search(target, rawHeaders) {
      if (credentialsIn(target).length > 0) found.push(`the target ${target}`);
      for (let i = 1; i < rawHeaders.length; i += 2) {
        const [name, value] = [rawHeaders[i - 1]!, rawHeaders[i]!];
        const isSecret = () => textsOf(value).some((text) => secrets!.heldIn(text).length > 0);
        if (credentialsIn(value).length > 0) found.push(`${name} for ${target}`);
        else if (secrets !== undefined && ofCredentials.test(name) && isSecret())
          found.push(`${name} for ${target}`);
      }
    },
    searchText(text) {
      if (credentialsIn(text).length > 0) found.push(text.slice(0, text.indexOf('\r\n')));
    },
    assertNone() {
      if (found.length > 0)
        throw new Error(
          `an upstream saw ${found.length} credentials of ours: ${found.slice(0, 5).join('; ')}`,
        );
    },
  };
}

const keys = /(?=([a-z0-9]{1,16}_[0-9A-Za-z]{36}))/g;
const tokens = /(eyJ[\w-]+)\.eyJ[\w-]+\.[\w-]*/g;
const cookies = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\.[1-9][0-9]{0,15})?\.[\w-]{43}/g;

/** The API keys, access tokens and cookies of any tenant that a text holds, in any spelling. */
export function credentialsIn(text: string): string[] {
  return textsOf(text).flatMap((each) => [
    ...[...each.matchAll(keys)].map(([, key]) => key!).filter(isApiKey),
    ...[...each.matchAll(tokens)].filter(([, header]) => isAccessToken(header!)).map(([token]) => token),
    ...[...each.matchAll(cookies)].map(([cookie]) => cookie),
  ]);
}

/** True if the header of a JWT has the type of access tokens. */
function isAccessToken(header: string): boolean {
  try {
    return /^(?:application\/)?at\+jwt$/i.test(JSON.parse(decoded(header)).typ);
  } catch {
    return false;
  }
}

/** Shorter base64 holds no credential, and no secret that is watched for. */
const minEncoded = 10;

/** A text, and what it is to those that decode it, or a part of it, wherever that begins. */
function textsOf(text: string): string[] {
  const plain = text.includes('%') ? [text, unescaped(text)] : [text];
  const words = plain.flatMap((each) => [
    ...each.split(/[^A-Za-z0-9+/_-]+/),
    // Lenient decoders leave out what is no base64.
    ...each
      .split(/basic/i)
      .slice(1)
      .map((part) => part.replace(/[^A-Za-z0-9+/_-]+/g, '')),
  ]);
  const encoded = words.filter((word) => word.length >= minEncoded);
  return [...plain, ...encoded.flatMap((word) => [0, 1, 2, 3].map((start) => decoded(word.slice(start))))];
}

const unescaped = (text: string) =>
  text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));

const decoded = (text: string) => Buffer.from(text, 'base64').toString('latin1');
