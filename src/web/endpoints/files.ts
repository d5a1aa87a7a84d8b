import type { Endpoint } from '../../endpoints/endpoint.ts';
import { Refusal } from '../../errors.ts';
import type { WebArea } from '../area.ts';
import type { Asset } from '../assets.ts';
import { shownPage } from './page.ts';

/** `Cache-Control` of content that never changes, because its address contains its hash (RFC 8246). */
const forGood = 'public, max-age=31536000, immutable';

/**
 * Creates `<path>/assets/…`, the files that pages load. Texts are compressed once, when first asked for: until then, no process
 * has loaded zlib for them.
 */
export function createAssetFiles({ path, assets }: Pick<WebArea, 'path' | 'assets'>): Endpoint<'open'> {
  const compressed = new Map<Asset, Buffer>();

  async function gzipped(asset: Asset): Promise<Buffer> {
    const { gzipSync } = await import('node:zlib');
    const bytes = compressed.get(asset) ?? gzipSync(asset.bytes, { level: 9 });
    compressed.set(asset, bytes);
    return bytes;
  }

  return shownPage(`${path}/assets/{id}`, async ({ exchange }) => {
    const asset = assets.find(exchange.path);
    if (asset === undefined) throw new Refusal('not_found');
    const { contentType: type, bytes } = asset;
    const common = { status: 200, cacheControl: forGood };
    if (!isText(type)) return { ...common, content: { type, bytes: Buffer.from(bytes) } };
    const headers = ['Vary', 'Accept-Encoding'];
    if (!acceptsGzip(exchange.head.raw))
      return { ...common, headers, content: { type, bytes: Buffer.from(bytes) } };
    headers.push('Content-Encoding', 'gzip');
    return { ...common, headers, content: { type, bytes: await gzipped(asset) } };
  });
}

/** True for media types that compress well: scripts, styles and SVG. */
const isText = (type: string): boolean => /^text\/|\+xml$/.test(type);

/** True if a request takes gzip (RFC 9110 §12.5.3). `raw`: its fields, names and values in turn. */
function acceptsGzip(raw: readonly string[]): boolean {
  for (let index = 0; index < raw.length; index += 2)
    if (raw[index]!.toLowerCase() === 'accept-encoding' && takesGzip.test(raw[index + 1]!)) return true;
  return false;
}

const takesGzip = /(?:^|,)[ \t]*gzip[ \t]*(?:;[ \t]*q=(?!0(?:\.0*)?[ \t]*(?:,|$))|,|$)/i;

/**
 * Creates `<path>/openapi.json`, the API's OpenAPI document. It is made only once, at the first request, because anyone may ask
 * for it and making it takes ten times as long as making a page.
 */
export function createDocumentFile(path: string, document: () => object): Endpoint<'open'> {
  let bytes: Buffer | undefined;
  return shownPage(`${path}/openapi.json`, async () => {
    bytes ??= Buffer.from(JSON.stringify(document()));
    return { status: 200, content: { type: 'application/json', bytes } };
  });
}
