import type { AuthorizationServer } from 'oauth4webapi';
import { isLoopbackHost } from '../config/values/addresses.ts';
import { CachedDocument } from './cached-document.ts';
import type { JsonObject } from './json-object.ts';
import { type ProviderNetwork, ProviderUnavailable } from './provider-network.ts';

/** The parts of a discovery document that are used; the endpoints that Postern uses are checked to be acceptable URLs. */
export interface ProviderMetadata extends AuthorizationServer {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly jwks_uri: string;
}

/**
 * The discovery document of one provider (OpenID Connect Discovery §4): renewed after an hour, and while the provider
 * is unavailable the last valid one is used for a day. Rejects with `provider_unavailable` when there is none.
 */
export function createDiscovery(options: {
  /** The configured issuer: determines the document's URL, and must equal the document's `issuer`. */
  readonly issuer: string;
  /** The configured `response`; `code` requires a token endpoint. */
  readonly response: 'id_token' | 'code';
  readonly network: Pick<ProviderNetwork, 'getObject'>;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
}): CachedDocument<ProviderMetadata> {
  const { issuer, response, network, now, onFailure } = options;
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const endpoints = [
    'authorization_endpoint',
    'jwks_uri',
    ...(response === 'code' ? ['token_endpoint'] : []),
  ];

  async function load(): Promise<ProviderMetadata> {
    const document = await network.getObject(url);
    // Byte for byte: a document of another issuer would make that issuer's assertions valid here (Discovery §4.3).
    if (document.issuer !== issuer) throw new ProviderUnavailable('discovery document names another issuer');
    const invalid = endpoints.find((name) => !isEndpoint(document[name], issuer));
    if (invalid !== undefined) throw new ProviderUnavailable(`discovery document has no valid ${invalid}`);
    return asMetadata(document);
  }

  return new CachedDocument({ load, now, onFailure });
}

/** True if the metadata allow a response by code (Discovery §3). */
export function canReturnCodes({
  token_endpoint,
  response_types_supported = ['code'],
}: ProviderMetadata): boolean {
  return token_endpoint !== undefined && response_types_supported.includes('code');
}

/** True for an https URL, or for an http URL if issuer and endpoint are on loopback, as in development. */
function isEndpoint(value: unknown, issuer: string): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && issuer.startsWith('http:') && isLoopbackHost(url.hostname);
}

function asMetadata(document: JsonObject): ProviderMetadata {
  const { end_session_endpoint: end } = document;
  return {
    issuer: document.issuer as string,
    authorization_endpoint: document.authorization_endpoint as string,
    jwks_uri: document.jwks_uri as string,
    token_endpoint: document.token_endpoint as string | undefined,
    token_endpoint_auth_methods_supported: textsIn(document.token_endpoint_auth_methods_supported),
    response_types_supported: textsIn(document.response_types_supported),
    // Optional: an unusable endpoint is ignored.
    end_session_endpoint: isEndpoint(end, String(document.issuer)) ? (end as string) : undefined,
    authorization_response_iss_parameter_supported:
      document.authorization_response_iss_parameter_supported === true,
  };
}

function textsIn(list: unknown): string[] | undefined {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : undefined;
}
