import { askByOpenssl, type ClientReport } from './openssl-client.ts';

/** A listener by the key of its certificate. */
export interface Listener {
  readonly key: string;
  readonly port: number;
}

/** Rows of a table: what is tried, and for each listener what came of it. */
export type Row = readonly [tried: string, ...results: string[]];

const refused = '–';
const everything = 'ALL:COMPLEMENTOFALL:@SECLEVEL=0';

/** The versions, each offered alone with every suite that this OpenSSL knows. */
export function versionRows(listeners: readonly Listener[]): Promise<Row[]> {
  const versions = { 'TLS 1.0': '-tls1', 'TLS 1.1': '-tls1_1', 'TLS 1.2': '-tls1_2', 'TLS 1.3': '-tls1_3' };
  return tryEach(versions, listeners, async (port, option) =>
    resultOf(await askByOpenssl(port, [option, '-cipher', everything])),
  );
}

/**
 * The suites of TLS 1.2 that are accepted: everything is offered, what was agreed upon is no longer offered, and so on
 * until a handshake fails, which shows that none of the others is.
 */
export async function suiteRows(listeners: readonly Listener[]): Promise<Row[]> {
  const accepted: string[][] = [];
  for (const { port } of listeners) {
    const found: string[] = [];
    for (;;) {
      const others = ['ALL', 'COMPLEMENTOFALL', ...found.map((suite) => `!${suite}`), '@SECLEVEL=0'];
      const report = await askByOpenssl(port, ['-tls1_2', '-cipher', others.join(':')]);
      if (resultOf(report) === refused) break;
      found.push(report.suite ?? 'not tried');
    }
    accepted.push(found);
  }
  const suites = [...new Set(accepted.flat())].sort();
  return suites.map((suite) => [
    `\`${suite}\``,
    ...accepted.map((found) => (found.includes(suite) ? 'accepted' : refused)),
  ]);
}

/** Groups of suites by what is wrong with them, all of a group offered at once; OpenSSL's names of the groups. */
export function refusedRows(listeners: readonly Listener[]): Promise<Row[]> {
  const families = {
    'CBC with a separate MAC': 'SHA1:SHA256:SHA384',
    'RSA key exchange, without forward secrecy': 'kRSA',
    'finite-field Diffie-Hellman': 'kDHE',
    'without authentication': 'aNULL',
    'without encryption': 'eNULL',
    'AES-CCM, ARIA, Camellia': 'AESCCM:ARIA:CAMELLIA',
  };
  return tryEach(families, listeners, async (port, family) =>
    resultOf(await askByOpenssl(port, ['-tls1_2', '-cipher', `${family}:@SECLEVEL=0`])),
  );
}

/** The suites and groups of TLS 1.3, each offered alone. */
export function modernRows(listeners: readonly Listener[]): Promise<Row[]> {
  const options: Record<string, string> = {};
  const suites = [
    'AES_128_GCM_SHA256',
    'AES_256_GCM_SHA384',
    'CHACHA20_POLY1305_SHA256',
    'AES_128_CCM_SHA256',
  ];
  for (const suite of suites) options[`\`TLS_${suite}\``] = `-ciphersuites TLS_${suite}`;
  for (const group of ['X25519', 'P-256', 'P-384', 'P-521', 'X448', 'ffdhe2048', 'ffdhe8192'])
    options[`key exchange by ${group}`] = `-groups ${group}`;
  return tryEach(options, listeners, async (port, option) =>
    resultOf(await askByOpenssl(port, ['-tls1_3', ...option.split(' ')])),
  );
}

async function tryEach(
  tried: Readonly<Record<string, string>>,
  listeners: readonly Listener[],
  ask: (port: number, option: string) => Promise<string>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, option] of Object.entries(tried)) {
    const results: string[] = [];
    for (const { port } of listeners) results.push(await ask(port, option));
    rows.push([name, ...results]);
  }
  return rows;
}

/** A client that could not offer it has no alert from the server. */
function resultOf({ suite, text }: ClientReport): string {
  if (suite !== undefined) return 'accepted';
  return /SSL alert number/.test(text) ? refused : 'not tried';
}

/** Everything else, at one listener without and one with `client_ca`. */
export async function otherRows(plain: number, mutual: number, client: readonly string[]): Promise<Row[]> {
  const alpn = async (names: string) => {
    const { text, suite } = await askByOpenssl(plain, ['-alpn', names]);
    return suite === undefined ? 'refused' : (/ALPN protocol: (\S+)/.exec(text)?.[1] ?? 'accepted');
  };
  const plain12 = await askByOpenssl(plain, ['-tls1_2']);
  const plain13 = await askByOpenssl(plain, ['-tls1_3']);
  const fallback = await askByOpenssl(plain, ['-tls1_2', '-fallback_scsv']);
  const renegotiated = await askByOpenssl(plain, ['-tls1_2'], 'R\n');
  const resumes = async (port: number, options: readonly string[]) => {
    const { text } = await askByOpenssl(port, ['-tls1_2', '-reconnect', ...options], '');
    return /^Reused, /m.test(text) ? 'resumed' : /^New, TLSv1.2/m.test(text) ? 'not resumed' : 'failed';
  };
  return [
    ['ALPN: `http/1.1`, or `h2` and `http/1.1`', `${await alpn('http/1.1')}, ${await alpn('h2,http/1.1')}`],
    ['ALPN: `h2` alone', await alpn('h2')],
    ['no ALPN', (await askByOpenssl(plain, [])).text.includes('HTTP/1.1 200') ? 'HTTP/1.1' : 'refused'],
    ['renegotiation by the client', whatRenegotiationGave(renegotiated.text)],
    [
      'secure renegotiation (RFC 5746)',
      /Secure Renegotiation (IS(?: NOT)?) supported/.exec(plain12.text)?.[1] === 'IS'
        ? 'indicated'
        : 'not indicated',
    ],
    [
      'extended master secret (RFC 7627)',
      /Extended master secret: (\w+)/.exec(plain12.text)?.[1] ?? 'unknown',
    ],
    ['a fallback to TLS 1.2 (RFC 7507)', fallback.suite === undefined ? 'refused' : 'accepted'],
    ['compression', /Compression: (\w+)/.exec(plain12.text)?.[1]?.toLowerCase() ?? 'unknown'],
    ['early data (0-RTT)', /Max Early Data: 0/.test(plain13.text) ? 'none' : 'accepted'],
    ['a session again, by its ticket', await resumes(plain, [])],
    ['a session again, with `client_ca`', await resumes(mutual, client)],
  ];
}

function whatRenegotiationGave(said: string): string {
  if (!said.includes('RENEGOTIATING')) return 'not tried';
  return /no renegotiation/.test(said) ? 'refused' : 'accepted';
}
