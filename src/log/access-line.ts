import { jsonText } from './json-text.ts';

/** A finished request, as the access line reports it. Must not contain a query string or a credential. */
export interface AccessEntry {
  readonly method: string;
  /** Path without the query; empty for a target that was malformed, or refused before its check. */
  readonly path: string;
  /** The configured path of the route, or the pattern of Postern's own endpoint; empty if none was found. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** `ok`, or the code of the refusal, or `client_aborted` and the like. */
  readonly outcome: string;
  readonly subject: string;
  /** `session` or `key`, or empty without a credential. */
  readonly credentialKind: 'session' | 'key' | '';
  readonly credentialId: string;
  readonly requestId: string;
  /** Mode of the listener at which a proxy asked about the request; empty if the request itself was received. */
  readonly decidedFor: string;
  readonly address: string;
  /** The subject of the client's certificate (RFC 4514); null if it has shown none. */
  readonly clientCertificate: string | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Reason of a refusal or failure: a phrase of a fixed table; empty otherwise. */
  readonly reason: string;
  /** Failure of the upstream; null if there was none. */
  readonly upstreamFailure: {
    readonly upstream: string;
    readonly address: string;
    readonly errno: string;
    readonly phase: string;
  } | null;
  /** A name from the client that isn't Postern's own, with Postern's own origin; null if none explains the refusal. */
  readonly otherName: {
    readonly header: 'origin' | 'host';
    readonly sent: string;
    readonly expected: string;
  } | null;
  /** Names of the client's headers that were removed, for a log at `debug`; default: none. */
  readonly removed?: readonly string[];
}

const none: readonly string[] = [];

/**
 * Formats the line of a request by concatenation: it is written once per request and must cost little. `removed`: names of
 * removed headers to list.
 */
export function accessLine(entry: AccessEntry, time: string, removed: readonly string[] = none): string {
  return (
    '{"level":"info","time":"' +
    time +
    '","msg":"request","method":' +
    quoted(entry.method) +
    ',"path":' +
    quoted(entry.path) +
    ',"route":' +
    quoted(entry.route) +
    ',"status":' +
    entry.status +
    ',"duration_ms":' +
    milliseconds(entry.durationMs) +
    ',"outcome":"' +
    entry.outcome +
    (entry.credentialKind === ''
      ? ''
      : `","subject":"${entry.subject}","${entry.credentialKind}":"${entry.credentialId}`) +
    '","request_id":"' +
    entry.requestId +
    (entry.decidedFor === '' ? '","address":"' : `","forward_auth":"${entry.decidedFor}","address":"`) +
    entry.address +
    (entry.clientCertificate === null
      ? '","bytes_in":'
      : `","client_certificate":${quoted(entry.clientCertificate)},"bytes_in":`) +
    entry.bytesIn +
    ',"bytes_out":' +
    entry.bytesOut +
    (entry.reason === '' ? '' : failureFields(entry)) +
    (removed.length === 0 ? '' : `,"removed":${jsonText(removed)}`) +
    '}\n'
  );
}

/** Fractions of a millisecond by microsecond: formatting a fraction costs several times as much as two integers. */
const fractions = Array.from({ length: 1000 }, (_, micros) => `.${String(micros).padStart(3, '0')}`);

function milliseconds(duration: number): string {
  const micros = Math.round(duration * 1000);
  const whole = Math.floor(micros / 1000);
  return `${whole}${fractions[micros - whole * 1000]}`;
}

function failureFields({ reason, upstreamFailure, otherName }: AccessEntry): string {
  const why = `,"reason":${quoted(reason)}${otherName === null ? '' : nameFields(otherName)}`;
  if (upstreamFailure === null) return why;
  const { upstream, address, errno, phase } = upstreamFailure;
  const code = errno === '' ? '' : `,"errno":${quoted(errno)}`;
  return `${why},"upstream":${quoted(upstream)},"upstream_address":${quoted(address)}${code},"phase":"${phase}"`;
}

function nameFields({ header, sent, expected }: NonNullable<AccessEntry['otherName']>): string {
  return `,"${header}":${quoted(sent)},"base_url":${quoted(expected)}`;
}

const needsEscape = /[^ !#-[\]-~]/;

function quoted(text: string): string {
  return needsEscape.test(text) ? jsonText(text) : `"${text}"`;
}
