import { MIMEType } from 'node:util';

/**
 * The lower-cased `type/subtype` of a Content-Type, or null if it is absent, malformed or names a charset other than
 * UTF-8: Postern's own endpoints accept only UTF-8.
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
