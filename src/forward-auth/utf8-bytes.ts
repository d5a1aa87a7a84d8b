/** Most texts have none of these, and are the same either way. */
const beyondAscii = /[^\t-~]/;

/** The UTF-8 of a text, as latin1. */
export function utf8Bytes(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text;
}

/** The text of which the bytes, as latin1, are the UTF-8. */
export function utf8Text(bytes: string): string {
  return beyondAscii.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
}
