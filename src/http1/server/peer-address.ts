/** The canonical spelling of an address: IPv4-mapped IPv6 as IPv4, without a zone; other text unchanged. */
export function canonicalAddress(address: string): string {
  const zone = address.indexOf('%');
  const whole = zone < 0 ? address : address.slice(0, zone);
  return /^::ffff:[^:]*\./i.test(whole) ? whole.slice(7) : whole;
}
