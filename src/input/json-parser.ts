import { ValidationError } from '../errors.ts';
import { tooMany } from './pydantic-problems.ts';

/** Parsed JSON text. Objects have no prototype, so a member named `__proto__` is a member like any other. */
export interface ParsedJson {
  readonly value: unknown;
  /** The outermost object's members in the order of the text: own keys would put integer-like names first. */
  readonly memberNames: readonly string[];
}

/** Maximum depth of a text: none of our bodies is nearly as deep, and the reader recurses once per level. */
const maxDepth = 64;
/** Maximum number of values in all: none of our bodies has as many, and each takes memory and time. */
const maxValues = 1_024;

/**
 * Parses a JSON text as strictly as RFC 8259 allows: UTF-8 without BOM, no duplicate members, at most 64 levels. Lone surrogates
 * in escapes are kept, for the schema to refuse.
 *
 * Throws {@link ValidationError} with one `json_invalid`, with the offset (in code points) and wording of Python's `json` where
 * that fails, too; or with one `too_long` for more than 1,024 values in all.
 */
export function parseJson(bytes: Uint8Array): ParsedJson {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const invalid = firstInvalidCharacter(text, bytes);
  if (invalid !== -1) throw jsonInvalid(invalid, 'Invalid UTF-8');
  if (text.startsWith('\ufeff')) throw jsonInvalid(0, 'Unexpected UTF-8 BOM (decode using utf-8-sig)');
  return new JsonReader(text).read();
}

/** The index (in code points) of the first character that the decoder put in place of bytes that aren't UTF-8; -1 for none. */
function firstInvalidCharacter(text: string, bytes: Uint8Array): number {
  let character = 0;
  let byte = 0;
  for (const c of text) {
    const meant = bytes[byte] === 0xef && bytes[byte + 1] === 0xbf && bytes[byte + 2] === 0xbd;
    if (c === '\ufffd' && !meant) return character;
    character += 1;
    byte += Buffer.byteLength(c);
  }
  return -1;
}

function jsonInvalid(offset: number, error: string): ValidationError {
  return new ValidationError([
    { type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error', input: {}, ctx: { error } },
  ]);
}

const space = /[ \t\n\r]*/y;
const scalar = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const hexDigits = /^[0-9a-f]{4}$/i;

class JsonReader {
  readonly #text: string;
  #at = 0;
  #values = 0;
  #memberNames: readonly string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  read(): ParsedJson {
    this.#skipSpace();
    const value = this.#value(1);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#failure('Extra data');
    return { value, memberNames: this.#memberNames };
  }

  #value(depth: number): unknown {
    if (++this.#values > maxValues)
      throw new ValidationError([{ ...tooMany(maxValues), loc: ['body'], input: null }]);
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{' || first === '[') {
      if (depth > maxDepth) throw this.#failure('Nesting too deep');
      return first === '{' ? this.#object(depth) : this.#array(depth);
    }
    const token = this.#match(scalar);
    if (token === '') throw this.#failure('Expecting value');
    return JSON.parse(token);
  }

  #object(depth: number): object {
    const object: Record<string, unknown> = Object.create(null);
    const names = new Set<string>();
    this.#skip();
    if (!this.#closes('}')) {
      do {
        const nameAt = this.#at;
        if (this.#text[nameAt] !== '"')
          throw this.#failure('Expecting property name enclosed in double quotes');
        const name = this.#string();
        if (names.has(name)) throw this.#failure('Duplicate property name', nameAt);
        names.add(name);
        this.#skipSpace();
        if (this.#text[this.#at] !== ':') throw this.#failure("Expecting ':' delimiter");
        this.#skip();
        object[name] = this.#value(depth + 1);
      } while (this.#continues('}'));
    }
    if (depth === 1) this.#memberNames = [...names];
    return object;
  }

  #array(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#skip();
    if (!this.#closes(']')) {
      do items.push(this.#value(depth + 1));
      while (this.#continues(']'));
    }
    return items;
  }

  #string(): string {
    const start = this.#at;
    let at = start + 1;
    while (this.#text[at] !== '"') {
      const code = this.#text.charCodeAt(at);
      if (Number.isNaN(code)) throw this.#failure('Unterminated string starting at', start);
      if (code < 0x20) throw this.#failure('Invalid control character at', at);
      at = this.#text[at] === '\\' ? this.#escapeEnd(at, start) : at + 1;
    }
    this.#at = at + 1;
    return JSON.parse(this.#text.slice(start, this.#at));
  }

  #escapeEnd(backslash: number, stringStart: number): number {
    const kind = this.#text[backslash + 1];
    if (kind === undefined) throw this.#failure('Unterminated string starting at', stringStart);
    if (kind === 'u') {
      const end = backslash + 6;
      const complete = end < this.#text.length && hexDigits.test(this.#text.slice(backslash + 2, end));
      if (!complete) throw this.#failure('Invalid \\uXXXX escape', backslash + 1);
      return end;
    }
    if (!'"\\/bfnrt'.includes(kind)) throw this.#failure('Invalid \\escape', backslash);
    return backslash + 2;
  }

  /** True if another item follows; skips the comma, or the bracket that ends the list. */
  #continues(bracket: string): boolean {
    this.#skipSpace();
    if (this.#closes(bracket)) return false;
    if (this.#text[this.#at] !== ',') throw this.#failure("Expecting ',' delimiter");
    this.#skip();
    return true;
  }

  #closes(bracket: string): boolean {
    if (this.#text[this.#at] !== bracket) return false;
    this.#at += 1;
    return true;
  }

  /** Skips one character and the white space after it. */
  #skip(): void {
    this.#at += 1;
    this.#skipSpace();
  }

  #skipSpace(): void {
    this.#match(space);
  }

  /** Skips and returns what the sticky pattern matches here. */
  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const matched = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += matched.length;
    return matched;
  }

  #failure(error: string, at = this.#at): ValidationError {
    return jsonInvalid([...this.#text.slice(0, at)].length, error);
  }
}
