import type { Endpoint } from '../../endpoints/endpoint.ts';
import { Refusal } from '../../errors.ts';
import type { WebArea } from '../area.ts';
import { shownPage } from './page.ts';

/** Addresses contain a hash of what is there, so that it never changes (RFC 8246). */
const forGood = 'public, max-age=31536000, immutable';

/** `<path>/assets/…`: what pages load. */
export function createAssetFiles({ path, assets }: Pick<WebArea, 'path' | 'assets'>): Endpoint<'open'> {
  return shownPage(`${path}/assets/{id}`, async ({ exchange }) => {
    const asset = assets.find(exchange.path);
    if (asset === undefined) throw new Refusal('not_found');
    const { contentType: type, bytes } = asset;
    return { status: 200, content: { type, bytes: Buffer.from(bytes) }, cacheControl: forGood };
  });
}

/**
 * `<path>/openapi.json`: the document of the API, made once, at the first request. Anyone may ask for it, and making it takes ten
 * times as long as a page.
 */
export function createDocumentFile(path: string, document: () => object): Endpoint<'open'> {
  let bytes: Buffer | undefined;
  return shownPage(`${path}/openapi.json`, async () => {
    bytes ??= Buffer.from(JSON.stringify(document()));
    return { status: 200, content: { type: 'application/json', bytes } };
  });
}
