import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { logoFormat, logoRules } from '../rules/logo-image.ts';
import { reasonOf, type Surroundings } from './outside-values.ts';
import type { Finding, Path } from './problems.ts';
import type { JudgedConfig } from './rule.ts';

type TlsFiles = { readonly ca?: string; readonly cert?: string; readonly key?: string };
type Report = (path: Path, rule: string) => void;

/**
 * Checks the files that a configuration names by valid paths: that PEM files can be read, contain what their keys say, and
 * match each other, and that the logo is an image. An unusable file is added to the sources, because it may be repaired.
 */
export function findingsOfFiles(
  config: JudgedConfig,
  { folder, sources }: Pick<Surroundings, 'folder' | 'sources'>,
): Finding[] {
  const findings: Finding[] = [];
  for (const [path, written] of tlsSections(config)) {
    const files = Object.fromEntries(
      Object.entries(written)
        .filter(([name, file]) => name !== 'server_name' && typeof file === 'string')
        .map(([name, file]) => [name, resolve(folder, file as string)]),
    ) as TlsFiles;
    const before = findings.length;
    judgeTlsFiles(files, (key, rule) => findings.push({ path: [...path, ...key], rule }));
    if (findings.length > before) for (const file of Object.values(files)) sources.add(file);
  }
  const logo = config.web?.logo;
  const rule = logo === undefined ? undefined : brokenByLogo(resolve(folder, logo));
  if (logo !== undefined && rule !== undefined) {
    findings.push({ path: ['web', 'logo'], rule });
    sources.add(resolve(folder, logo));
  }
  return findings;
}

function brokenByLogo(file: string): string | undefined {
  try {
    const format = logoFormat(readFileSync(file));
    return 'problem' in format ? logoRules[format.problem] : undefined;
  } catch (error) {
    return `can't be read: ${reasonOf(error)}`;
  }
}

/** Every TLS section that is present, with its path. */
function tlsSections({ listen, upstreams, stores }: JudgedConfig): [Path, object][] {
  const sections: [Path, object | undefined][] = [
    [['listen', 'tls'], listen?.tls],
    [['stores', 'records_tls'], stores?.records_tls],
    [['stores', 'sessions_tls'], stores?.sessions_tls],
    ...Object.entries(upstreams ?? {}).map(([name, upstream]): [Path, object | undefined] => [
      ['upstreams', name, 'tls'],
      upstream?.tls,
    ]),
  ];
  return sections.filter((section): section is [Path, object] => section[1] !== undefined);
}

function judgeTlsFiles({ ca, cert, key }: TlsFiles, report: Report): void {
  if (ca !== undefined) certificatesIn(ca, ['ca'], report);
  const chain = cert === undefined ? undefined : certificatesIn(cert, ['cert'], report);
  const privateKey = key === undefined ? undefined : privateKeyIn(key, report);
  if (chain === undefined || privateKey === undefined) return;
  if (!chain.certificates[0]!.checkPrivateKey(privateKey.key)) {
    report(['key'], 'must be the private key of the first certificate in cert');
    return;
  }
  try {
    createSecureContext({ cert: chain.pem, key: privateKey.pem });
  } catch (error) {
    report(['cert'], `must be usable for TLS: ${reasonOf(error)}`);
  }
}

/** The file's text; undefined, and reported, if it can't be read. */
function readPem(file: string, path: Path, report: Report): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    report(path, `can't be read: ${reasonOf(error)}`);
  }
}

const certificateBlock = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END [^-]*-----/g;

function certificatesIn(
  file: string,
  path: Path,
  report: Report,
): { readonly pem: string; readonly certificates: readonly X509Certificate[] } | undefined {
  const pem = readPem(file, path, report);
  if (pem === undefined) return undefined;
  const blocks = pem.match(certificateBlock) ?? [];
  try {
    const certificates = blocks.map((block) => new X509Certificate(block));
    if (certificates.length > 0) return { pem, certificates };
    report(path, 'must contain a PEM certificate');
  } catch {
    report(path, 'must contain PEM certificates only, and one is damaged');
  }
}

function privateKeyIn(
  file: string,
  report: Report,
): { readonly pem: string; readonly key: KeyObject } | undefined {
  const pem = readPem(file, ['key'], report);
  if (pem === undefined) return undefined;
  try {
    return { pem, key: createPrivateKey(pem) };
  } catch (error) {
    const isEncrypted =
      (error as NodeJS.ErrnoException).code === 'ERR_MISSING_PASSPHRASE' || /ENCRYPTED/.test(pem);
    report(
      ['key'],
      isEncrypted ? 'must be a private key without a passphrase' : 'must contain a usable PEM private key',
    );
  }
}
