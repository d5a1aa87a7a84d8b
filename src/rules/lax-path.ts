/** True if a lax server may read a path differently from its spelling; cheap enough for every request. */
export function hasOtherReadings(path: string): boolean {
  return /[A-Z%;]/.test(path);
}

/**
 * Readings of a path by the laxest servers: escapes decoded, case folded, `;…` removed from every segment or with everything
 * after it, slashes merged, no slash at the end. There are several if servers differ in the order, or in the meaning of `;`: a
 * parameter of its segment (Tomcat) or the query (Fastify). Escapes that aren't UTF-8 stay unchanged.
 */
export function laxReadings(path: string): readonly string[] {
  const decoded = decode(path);
  if (!decoded.includes(';')) return [folded(decoded)];
  const cut = withoutParameters(path);
  const all = [
    decoded,
    withoutParameters(decoded),
    decode(cut),
    withoutParameters(decode(cut)),
    upToSemicolon(decoded),
    decode(upToSemicolon(path)),
  ];
  return [...new Set(all.map(folded))];
}

function withoutParameters(path: string): string {
  return path.replace(/;[^/]*/g, '');
}

function upToSemicolon(path: string): string {
  const end = path.indexOf(';');
  return end < 0 ? path : path.slice(0, end);
}

function decode(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Folds case in both directions, as some letters coincide with others in only one of them (ſ, K); normalises slashes. */
function folded(path: string): string {
  const single = path.replace(/\/{2,}/g, '/');
  const plain = single.endsWith('/') ? single.slice(0, -1) : single;
  return plain.toUpperCase().toLowerCase();
}
