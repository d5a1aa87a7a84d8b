import t from 'tap';
import { logoFormat, maxLogoBytes } from '../../src/rules/logo-image.ts';

const svg = (inside: string, before = '') =>
  Buffer.from(`${before}<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">${inside}</svg>`);
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const webp = Buffer.from('RIFF\x24\x00\x00\x00WEBPVP8 ', 'latin1');
const documentType =
  '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">';

t.test('a logo is recognised by what it contains', async (t) => {
  t.match(logoFormat(png), { contentType: 'image/png', extension: 'png' });
  t.match(logoFormat(webp), { contentType: 'image/webp', extension: 'webp' });
  const vector = { contentType: 'image/svg+xml', extension: 'svg' };
  t.match(logoFormat(svg('<path d="M0 0h8v8"/>')), vector);
  t.match(
    logoFormat(svg('', '\ufeff<?xml version="1.0"?>\n<!-- made > by hand -->\n')),
    vector,
    'after a prolog',
  );
  t.match(logoFormat(svg('', documentType)), vector, 'after a document type');
});

const refused: Readonly<Record<string, readonly [Uint8Array, string]>> = {
  'nothing at all': [Buffer.alloc(0), 'unknown_format'],
  'another kind of image': [Buffer.from('GIF89a'), 'unknown_format'],
  'a RIFF file that is a sound': [Buffer.from('RIFF\x24\x00\x00\x00WAVEfmt ', 'latin1'), 'unknown_format'],
  'a page': [Buffer.from('<!doctype html><p>http://www.w3.org/2000/svg</p>'), 'unknown_format'],
  'an SVG that browsers show as text, without its namespace': [Buffer.from('<svg></svg>'), 'unknown_format'],
  'bytes that are not UTF-8': [Buffer.concat([svg(''), Buffer.from([0xff])]), 'unknown_format'],
  'an SVG with a script': [svg('<script href="/api/store/evil.js"/>'), 'active_svg'],
  'an SVG with a script in a prefix of its own': [svg('<s:SCRIPT/>'), 'active_svg'],
  'an SVG with entities, which could hold one': [
    svg('&x;', '<!DOCTYPE svg [<!ENTITY x "&#60;script/&#62;">]>'),
    'active_svg',
  ],
  'one byte too many': [Buffer.concat([png, Buffer.alloc(maxLogoBytes - png.length + 1)]), 'too_large'],
};

for (const [name, [bytes, problem]] of Object.entries(refused)) {
  t.test(`no logo: ${name}`, async (t) => t.strictSame(logoFormat(bytes), { problem }));
}

t.test('64 KiB are allowed', async (t) => {
  t.match(logoFormat(Buffer.concat([png, Buffer.alloc(maxLogoBytes - png.length)])), { extension: 'png' });
});
