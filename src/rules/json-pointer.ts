/** True for a JSON Pointer (RFC 6901 §3) other than the empty one, which is the whole document. */
export function isJsonPointer(text: string): boolean {
  return text.startsWith('/') && !/~(?![01])/.test(text);
}

/** The JSON Pointer of a member of the document itself. */
export function pointerOfMember(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The value in a parsed JSON document that a valid pointer names; undefined if there is none (RFC 6901 §4). */
export function valueAt(document: unknown, pointer: string): unknown {
  let found = document;
  for (const token of pointer.split('/').slice(1)) {
    const step = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null) return undefined;
    if (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(step)) return undefined;
    if (!Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}
