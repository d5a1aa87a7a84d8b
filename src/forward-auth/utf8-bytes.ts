/** Characters outside ASCII; texts without them need no conversion. */
const beyondAscii = /[^\t-~]/;

/** The UTF-8 bytes of a text, as latin1. */
export function utf8Bytes(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text;
}

/** Decodes UTF-8 bytes given as latin1. */
export function utf8Text(bytes: string): string {
  return beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
}
