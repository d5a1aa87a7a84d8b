import { MIMEType } from 'node:util';

/**
 * The lower-cased `type/subtype` of a Content-Type, or null when it is absent, malformed or names another charset than
 * UTF-8: what Postern's own endpoints take is UTF-8 alone.
 */
export function utf8MediaType(contentType: string | undefined): string | null {
  try {
    const type = new MIMEType(contentType ?? '');
    const charset = type.params.get('charset') ?? 'utf-8';
    return /^utf-?8$/i.test(charset) ? type.essence : null;
  } catch {
    return null;
  }
}
