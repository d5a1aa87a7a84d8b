/** How a raw key is put together, worked out another way than the gateway does. */
export interface KeyParts {
  readonly prefix: string;
  readonly random: string;
  readonly checksum: string;
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const checksumLength = 6;

/** Takes a raw key apart. */
export function partsOf(rawKey: string): KeyParts {
  const [prefix = '', rest = ''] = rawKey.split('_');
  return { prefix, random: rest.slice(0, -checksumLength), checksum: rest.slice(-checksumLength) };
}

/** The CRC-32 of the random part bit by bit (polynomial 0xEDB88320), big-endian in base62. */
export function checksumOf(random: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(random)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  let rest = BigInt((crc ^ 0xffffffff) >>> 0);
  let text = '';
  for (; rest > 0n; rest /= 62n) text = base62[Number(rest % 62n)] + text;
  return text.padStart(checksumLength, '0');
}
