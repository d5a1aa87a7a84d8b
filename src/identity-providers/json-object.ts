/** A JSON object as parsed: nothing is known of its members. */
export type JsonObject = Readonly<Record<string, unknown>>;

const tokens = /"(?:[^"\\]+|\\.)*"(\s*:)?|[{}]/g;

/**
 * Parses the bytes of a JSON object: UTF-8 without BOM, and no member twice in any object, for two readers of such a
 * text may see two different values (RFC 8725 §2.4). Undefined for anything else.
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

/** Whether it is an object, and neither a list nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text is valid JSON already: a string before a colon is a member's name, of the innermost object that is open. */
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
