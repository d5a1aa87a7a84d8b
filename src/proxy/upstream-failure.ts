import type { Exchange, UpstreamFailureDetail } from '../http/exchange.ts';
import type { UpstreamError } from '../http1/client/upstream-error.ts';
import type { Reason } from '../reasons.ts';
import type { ForwardingRoute } from './route-table.ts';

/** Notes on the exchange, for its access line, why and where its upstream failed. `isTaken`: a connection took the request. */
export function noteUpstreamFailure(
  exchange: Exchange,
  error: UpstreamError,
  { upstream, upstreamAddress }: Pick<ForwardingRoute, 'upstream' | 'upstreamAddress'>,
  isTaken: boolean,
): void {
  const cause = (error.cause ?? {}) as SocketError;
  const errno = typeof cause.code === 'string' && error.kind !== 'malformed' ? cause.code : '';
  const phase = phaseOf(error, errno, isTaken, exchange.response.begun);
  exchange.reason = reasonOf(error, errno, phase);
  exchange.upstreamFailure = {
    upstream: upstream.name,
    address: cause.address && cause.port ? hostAndPort(cause.address, cause.port) : upstreamAddress,
    errno,
    phase,
  };
}

/** A system error of a socket, with the address that was tried, if there was one. */
type SocketError = NodeJS.ErrnoException & { readonly address?: string; readonly port?: number };
type Phase = UpstreamFailureDetail['phase'];

// Codes of errors from OpenSSL and from Node's own certificate checks; a refused connection has a system error's code.
const tlsError = /^(?:ERR_(?:SSL|TLS|OSSL)|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO$)/;
const nameError = /^(?:ENOTFOUND|EAI_)/;

function phaseOf({ kind }: UpstreamError, errno: string, isTaken: boolean, hasResponse: boolean): Phase {
  if (kind === 'refused' || kind === 'connect_timeout') {
    if (nameError.test(errno)) return 'lookup';
    return tlsError.test(errno) ? 'tls' : 'connect';
  }
  if (hasResponse) return 'response_body';
  return isTaken ? 'response_head' : 'queue';
}

function reasonOf({ kind }: UpstreamError, errno: string, phase: Phase): Reason {
  switch (kind) {
    case 'refused':
      if (phase === 'tls') return 'tls failed';
      if (phase === 'lookup') return lookupReason(errno);
      return errno === 'ECONNREFUSED' ? 'connect refused' : 'connect failed';
    case 'connect_timeout':
      return phase === 'lookup' ? lookupReason(errno) : 'connect timed out';
    case 'response_timeout':
      return phase === 'queue' ? 'no free connection' : 'response timed out';
    case 'idle_timeout':
      return 'response stalled';
    case 'malformed':
      return 'response malformed';
    case 'reset':
      return phase === 'response_body' ? 'response cut off' : 'connection closed early';
  }
}

function lookupReason(errno: string): Reason {
  return errno === 'ENOTFOUND' ? 'name not resolved' : 'name servers unavailable';
}

/** A host and port as written in URLs, an IPv6 address in brackets. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
