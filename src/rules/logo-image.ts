/** The size of a logo at most, in bytes. */
export const maxLogoBytes = 64 * 1024;

/** An image that may be a logo: its media type, and how the names of such files end. */
export interface LogoFormat {
  readonly contentType: 'image/png' | 'image/svg+xml' | 'image/webp';
  readonly extension: 'png' | 'svg' | 'webp';
}

/** Why a file can't be a logo. */
export interface LogoProblem {
  readonly problem: 'too_large' | 'unknown_format' | 'active_svg';
}

/** What each problem breaks, as the end of a sentence about the file. */
export const logoRules = {
  too_large: `must be at most ${maxLogoBytes / 1024} KiB`,
  unknown_format: 'must be a PNG, SVG or WebP image',
  active_svg: 'must not contain scripts or entities',
} as const satisfies Record<LogoProblem['problem'], string>;

const svgNamespace = 'http://www.w3.org/2000/svg';
/** What may stand before the root element: the XML declaration, comments, processing instructions, a document type. */
const prolog = /^(?:\s+|<\?[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^>]*>)/;
/** Pages show the logo as an image, where scripts never run; opened by itself it is a document of Postern's origin. */
const active = /<(?:[\w.-]+:)?script\b|<!ENTITY\b/i;

/** What kind of image those bytes are, whatever the file is called; else the problem. */
export function logoFormat(bytes: Uint8Array): LogoFormat | LogoProblem {
  if (bytes.length > maxLogoBytes) return { problem: 'too_large' };
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return { contentType: 'image/png', extension: 'png' };
  if (/^RIFF[\s\S]{4}WEBP/.test(start)) return { contentType: 'image/webp', extension: 'webp' };
  const text = utf8Of(bytes);
  if (text === undefined || !text.includes(svgNamespace)) return { problem: 'unknown_format' };
  if (active.test(text)) return { problem: 'active_svg' };
  return rootIsSvg(text) ? { contentType: 'image/svg+xml', extension: 'svg' } : { problem: 'unknown_format' };
}

function utf8Of(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function rootIsSvg(text: string): boolean {
  let rest = text;
  for (let found = prolog.exec(rest); found !== null; found = prolog.exec(rest)) {
    rest = rest.slice(found[0].length);
  }
  return /^<svg[\s>]/.test(rest);
}
