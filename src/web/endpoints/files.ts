import type { Endpoint } from '../../endpoints/endpoint.ts';
import { Refusal } from '../../errors.ts';
import type { WebArea } from '../area.ts';
import { shownPage } from './page.ts';

/** `Cache-Control` of content that never changes, because its address contains its hash (RFC 8246). */
const forGood = 'public, max-age=31536000, immutable';

/** Creates `<path>/assets/…`, the files that pages load. */
export function createAssetFiles({ path, assets }: Pick<WebArea, 'path' | 'assets'>): Endpoint<'open'> {
  return shownPage(`${path}/assets/{id}`, async ({ exchange }) => {
    const asset = assets.find(exchange.path);
    if (asset === undefined) throw new Refusal('not_found');
    const { contentType: type, bytes } = asset;
    return { status: 200, content: { type, bytes: Buffer.from(bytes) }, cacheControl: forGood };
  });
}

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
