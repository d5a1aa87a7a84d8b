import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createMac } from '../../../src/credentials/mac.ts';
import type { WebGateway } from './web.ts';

export const hostCookieName = '__Host-service_refresh_cookie_at';

/** The host cookie that `enter` would set for the session of a web cookie, as `name=value`. */
export function hostCookieOf(
  { folder }: Pick<WebGateway, 'folder'>,
  webCookie: string,
  host: string,
): string {
  const [sessionId = ''] = webCookie.slice(webCookie.indexOf('=') + 1).split('.');
  const db = new Database(join(folder, 'records.db'), { readonly: true });
  const row = db.prepare("SELECT private_jwk AS jwk FROM signing_keys WHERE purpose = 'cookie'").get();
  db.close();
  const secret = Buffer.from(JSON.parse((row as { readonly jwk: string }).jwk).k, 'base64url');
  const mac = createMac(secret, 'postern host cookie 1')(['acme', hostCookieName, sessionId, host]);
  return `${hostCookieName}=${sessionId}.${mac.toString('base64url')}`;
}
