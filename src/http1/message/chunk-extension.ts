/** States within a chunk's extensions (RFC 9112 §7.1.1). */
export const extension = {
  nameStart: 0,
  name: 1,
  valueStart: 2,
  value: 3,
  quoted: 4,
  escaped: 5,
  quotedEnd: 6,
  malformed: 7,
} as const;
export type ExtensionState = (typeof extension)[keyof typeof extension];

const semicolon = 0x3b;
const equals = 0x3d;
const quote = 0x22;
const backslash = 0x5c;

/** Per byte: 1 if it may occur in a token (RFC 9110 §5.6.2). */
const tokenBytes = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
  tokenBytes[character.charCodeAt(0)] = 1;

/** The state after the byte; each `;` must be followed by `token[=token|quoted-string]`, without whitespace. */
export function nextExtensionState(state: ExtensionState, byte: number): ExtensionState {
  switch (state) {
    case extension.nameStart:
      return tokenBytes[byte] === 1 ? extension.name : extension.malformed;
    case extension.name:
      if (byte === equals) return extension.valueStart;
      return inToken(state, byte);
    case extension.valueStart:
      if (byte === quote) return extension.quoted;
      return tokenBytes[byte] === 1 ? extension.value : extension.malformed;
    case extension.value:
      return inToken(state, byte);
    case extension.quoted:
      if (byte === quote) return extension.quotedEnd;
      if (byte === backslash) return extension.escaped;
      return isText(byte) ? extension.quoted : extension.malformed;
    case extension.escaped:
      return isText(byte) ? extension.quoted : extension.malformed;
    case extension.quotedEnd:
      return byte === semicolon ? extension.nameStart : extension.malformed;
    default:
      return extension.malformed;
  }
}

/** True if the line may end in this state. */
export function mayEndExtension(state: ExtensionState): boolean {
  return state === extension.name || state === extension.value || state === extension.quotedEnd;
}

function inToken(state: ExtensionState, byte: number): ExtensionState {
  if (byte === semicolon) return extension.nameStart;
  return tokenBytes[byte] === 1 ? state : extension.malformed;
}

function isText(byte: number): boolean {
  return byte === 0x09 || (byte >= 0x20 && byte !== 0x7f);
}
