import { meaning } from '../../../src/http/header-names.ts';
import type { RouteOptions } from '../../../src/proxy/route-table.ts';
import { nothingPasses } from '../../../src/rules/passed-spellings.ts';

/** A route to nowhere, for tests of what routes decide; whatever matters to one is put in its place. */
export const routeOptions: RouteOptions = {
  upstreamAddress: '127.0.0.1:9',
  label: '',
  path: '/',
  exact: false,
  passes: nothingPasses,
  strippedPrefix: '',
  sentTarget: null,
  upstream: null as never,
  identityHeadersOf: (principal) => principal.identity,
  passedMeaning: () => meaning.plain,
  fixedHeaders: null,
  assert: null,
  isPublic: false,
  isForBrowsers: false,
  passesAuthorization: false,
  challenge: 'bearer',
  passesPreflights: false,
  leavesCors: false,
  acceptsSession: true,
  acceptsApiKey: true,
  scopes: [],
  leastBodyBytesPerSecond: 0,
  maxBodyBytes: Number.POSITIVE_INFINITY,
  upgrades: new Set(),
  connectTimeoutMs: 1_000,
  responseTimeoutMs: 1_000,
  idleTimeoutMs: 1_000,
};
