/** The canonical spelling of an IP address: IPv4-mapped IPv6 becomes IPv4, and a zone is removed; other text is unchanged. */
export function canonicalAddress(address: string): string {
  const zone = address.indexOf('%');
  const whole = zone < 0 ? address : address.slice(0, zone);
  return /^::ffff:[^:]*\./i.test(whole) ? whole.slice(7) : whole;
}
