/** Whether a lax server may read a path otherwise than as it is spelled: cheap, for every request. */
export function hasOtherReadings(path: string): boolean {
  return /[A-Z%;]/.test(path);
}

/**
 * A path as the laxest servers read it: escapes decoded, case folded, `;…` cut off every segment or with all that
 * follows, slashes merged, no slash at the end. There are several where servers differ about the order, or about what
 * `;` begins: a parameter of its segment (Tomcat) or the query (Fastify). What is no UTF-8 stays as it is.
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

/** Both ways, for letters that meet others in one of them alone (ſ, K). */
function folded(path: string): string {
  const single = path.replace(/\/{2,}/g, '/');
  const plain = single.endsWith('/') ? single.slice(0, -1) : single;
  return plain.toUpperCase().toLowerCase();
}
