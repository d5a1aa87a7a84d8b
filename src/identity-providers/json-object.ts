/** A parsed JSON object with unchecked members. */
export type JsonObject = Readonly<Record<string, unknown>>;

const tokens = /"(?:[^"\\]+|\\.)*"(\s*:)?|[{}]/g;

/**
 * Parses the bytes of a JSON object: UTF-8 without BOM, and no duplicate member in any object, which two parsers may
 * read differently (RFC 8725 §2.4). Undefined for anything else.
 */
export function parseJsonObject(bytes: Uint8Array): JsonObject | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && !hasDuplicateMembers(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True for an object, not for an array or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Finds duplicate members in valid JSON: a string before a colon is a member name of the innermost open object. */
function hasDuplicateMembers(text: string): boolean {
  const open: Set<string>[] = [];
  for (const [token, colon] of text.matchAll(tokens)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const name: string = JSON.parse(token.slice(0, -colon.length));
      const names = open.at(-1)!;
      if (names.has(name)) return true;
      names.add(name);
    }
  }
  return false;
}
