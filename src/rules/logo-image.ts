/** Maximum size of a logo, bytes. */
export const maxLogoBytes = 64 * 1024;

/** An image format of logos: its media type and file extension. */
export interface LogoFormat {
  readonly contentType: 'image/png' | 'image/svg+xml' | 'image/webp';
  readonly extension: 'png' | 'svg' | 'webp';
}

/** A reason why a file can't be a logo. */
export interface LogoProblem {
  readonly problem: 'too_large' | 'unknown_format' | 'active_svg';
}

/** The broken rule of each problem, as the end of a sentence about the file. */
export const logoRules = {
  too_large: `must be at most ${maxLogoBytes / 1024} KiB`,
  unknown_format: 'must be a PNG, SVG or WebP image',
  active_svg: 'must not contain scripts or entities',
} as const satisfies Record<LogoProblem['problem'], string>;

const svgNamespace = 'http://www.w3.org/2000/svg';
/** A part of an SVG before its root element: XML declaration, comment, processing instruction, document type. */
const prolog = /^(?:\s+|<\?[^>]*>|<!--[\s\S]*?-->|<!DOCTYPE[^>]*>)/;
/** Matches active content: harmless in an image, but a logo opened by itself is a document of Postern's origin. */
const active = /<(?:[\w.-]+:)?script\b|<!ENTITY\b/i;

/** The image format of a file's content, whatever its name, or the problem. */
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
