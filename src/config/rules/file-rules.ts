import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { contextOptions } from '../../http1/server/tls-settings.ts';
import { logoFormat, logoRules } from '../../rules/logo-image.ts';
import { reasonOf, type Surroundings } from '../report/outside-values.ts';
import type { Finding, Path } from '../report/problems.ts';
import { certificatesOf, haveRoot, isTlsFile } from '../values/certificates.ts';
import { encryptionKeyOf } from '../values/encryption-keys.ts';
import type { JudgedConfig } from './rule.ts';

type TlsFiles = Readonly<Partial<Record<'ca' | 'cert' | 'key' | 'client_ca', string>>>;
type Report = (path: Path, rule: string) => void;

/**
 * Checks the files that a configuration names by valid paths: PEM files must be readable, have the expected content and match
 * each other, the logo must be an image, and encryption keys must have the right length. An unusable file is added to the
 * sources, because it may be repaired.
 */
export function findingsOfFiles(
  config: JudgedConfig,
  { folder, sources }: Pick<Surroundings, 'folder' | 'sources'>,
): Finding[] {
  const findings: Finding[] = [];
  for (const [path, written] of tlsSections(config)) {
    const files = Object.fromEntries(
      Object.entries(written)
        .filter(([name, file]) => isTlsFile(name) && typeof file === 'string')
        .map(([name, file]) => [name, resolve(folder, file as string)]),
    ) as TlsFiles;
    const before = findings.length;
    judgeTlsFiles(files, (key, rule) => findings.push({ path: [...path, ...key], rule }));
    if (findings.length > before) for (const file of Object.values(files)) sources.add(file);
  }
  const judge = (path: Path, written: string | undefined, ruleOf: RuleOfContent) => {
    if (written === undefined) return;
    const file = resolve(folder, written);
    const rule = brokenBy(file, ruleOf);
    if (rule === undefined) return;
    findings.push({ path, rule });
    sources.add(file);
  };
  judge(['web', 'logo'], config.web?.logo, (content) => {
    const format = logoFormat(content);
    return 'problem' in format ? logoRules[format.problem] : undefined;
  });
  for (const [index, key] of (config.stores?.records_encryption?.keys ?? []).entries())
    judge(['stores', 'records_encryption', 'keys', index, 'file'], key?.file, (content) => {
      const parsed = encryptionKeyOf(content);
      return typeof parsed === 'string' ? parsed : undefined;
    });
  return findings;
}

/** The rule that a file's content breaks; undefined if it breaks none. */
type RuleOfContent = (content: Buffer) => string | undefined;

function brokenBy(file: string, ruleOf: RuleOfContent): string | undefined {
  try {
    return ruleOf(readFileSync(file));
  } catch (error) {
    return `can't be read: ${reasonOf(error)}`;
  }
}

/** Every TLS section that is present, with its path. */
export function tlsSections({ listen, forward_auth, upstreams, stores }: JudgedConfig): [Path, object][] {
  const sections: [Path, object | undefined][] = [
    [['listen', 'tls'], listen?.tls],
    ...(forward_auth ?? []).map((listener, index): [Path, object | undefined] => [
      ['forward_auth', index, 'tls'],
      listener?.tls,
    ]),
    [['stores', 'records_tls'], stores?.records_tls],
    [['stores', 'sessions_tls'], stores?.sessions_tls],
    ...Object.entries(upstreams ?? {}).map(([name, upstream]): [Path, object | undefined] => [
      ['upstreams', name, 'tls'],
      upstream?.tls,
    ]),
  ];
  return sections.filter((section): section is [Path, object] => section[1] !== undefined);
}

function judgeTlsFiles({ ca, cert, key, client_ca: clientCa }: TlsFiles, report: Report): void {
  if (ca !== undefined) certificatesIn(ca, ['ca'], report);
  if (clientCa !== undefined) judgeAuthorities(clientCa, report);
  const chain = cert === undefined ? undefined : certificatesIn(cert, ['cert'], report);
  const privateKey = key === undefined ? undefined : privateKeyIn(key, report);
  if (chain === undefined || privateKey === undefined) return;
  if (!chain.certificates[0]!.checkPrivateKey(privateKey.key)) {
    report(['key'], 'must be the private key of the first certificate in cert');
    return;
  }
  try {
    // The settings of listeners are the strictest, so client certificates are checked with them, too.
    createSecureContext(
      contextOptions({
        cert: Buffer.from(chain.pem, 'latin1'),
        key: Buffer.from(privateKey.pem, 'latin1'),
        clients: null,
      }),
    );
  } catch (error) {
    report(['cert'], `must be usable for TLS: ${reasonOf(error)}`);
  }
}

// Without a root, no client could ever connect.
function judgeAuthorities(file: string, report: Report): void {
  const { certificates } = certificatesIn(file, ['client_ca'], report) ?? {};
  if (certificates === undefined || haveRoot(certificates)) return;
  report(['client_ca'], 'must contain a root: an authority whose certificate it has issued itself');
}

/** The file's text; if it can't be read, undefined, and the problem is reported. */
function readPem(file: string, path: Path, report: Report): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    report(path, `can't be read: ${reasonOf(error)}`);
  }
}

function certificatesIn(
  file: string,
  path: Path,
  report: Report,
): { readonly pem: string; readonly certificates: readonly X509Certificate[] } | undefined {
  const pem = readPem(file, path, report);
  if (pem === undefined) return undefined;
  try {
    const certificates = certificatesOf(pem);
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
