/** What Node says of a certificate, key or authority file that can't be read or used, as a sentence; else undefined. */
export function fileFailureOf(error: unknown): string | undefined {
  const { code = '', syscall, path } = error as NodeJS.ErrnoException;
  if (syscall === 'open' && path !== undefined) return `${path}: can't be read (${code})`;
  if (/^ERR_(?:OSSL|SSL|CRYPTO)/.test(code)) return `listen.tls: no usable certificate and key (${code})`;
  return undefined;
}
