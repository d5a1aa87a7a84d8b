import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { subjectOf } from '../../src/http1/message/distinguished-name.ts';
import { requireProgram } from '../support/programs.ts';

/** Subjects as `openssl req` takes them, and as RFC 4514 writes them. */
const rows: [sentence: string, subject: string, expected: string][] = [
  ['the most specific part comes first', '/C=DE/O=Acme/CN=billing', 'CN=billing,O=Acme,C=DE'],
  ['a part of two values keeps them together', '/O=Acme/CN=a+UID=7', 'CN=a+UID=7,O=Acme'],
  ['a plus between blanks is none of those', '/CN=a \\+ b', 'CN=a \\+ b'],
  ['separators are escaped', '/CN=a, "b"; <c> \\\\ d', 'CN=a\\, \\"b\\"\\; \\<c\\> \\\\ d'],
  ['so are blanks and a # at the ends', '/O=#1/CN= a ', 'CN=\\ a\\ ,O=\\#1'],
  ['so is a line feed, which would begin another part', '/CN=a\nCN=root', 'CN=a\\0ACN=root'],
  ['other letters stay', '/CN=Zoë 漢', 'CN=Zoë 漢'],
  ['no subject at all', '/', ''],
];

for (const [sentence, subject, expected] of rows)
  t.test(sentence, async (t) => {
    if (!requireProgram(t, 'openssl')) return;
    const options = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const about = ['-utf8', '-multivalue-rdn', '-subj', subject, '-keyout', '/dev/null'];
    const pem = execFileSync('openssl', [...options, ...about], { stdio: ['ignore', 'pipe', 'ignore'] });
    t.equal(subjectOf(new X509Certificate(pem)), expected);
  });
