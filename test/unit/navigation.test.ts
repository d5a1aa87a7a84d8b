import t from 'tap';
import { isNavigation, isUnseen } from '../../src/http/navigation.ts';
import { readRequestHead } from '../../src/http/request-head.ts';

const rows: readonly [sentence: string, headers: readonly string[], expected: boolean][] = [
  ['a link that is followed', ['Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Dest', 'document'], true],
  ['a frame in a page', ['Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Dest', 'iframe'], false],
  ['a fetch', ['Sec-Fetch-Mode', 'cors', 'Sec-Fetch-Dest', 'empty', 'Accept', 'text/html'], false],
  ['a mode alone', ['Sec-Fetch-Mode', 'navigate', 'Accept', 'text/html'], false],
  ['a repeated mode', ['Sec-Fetch-Mode', 'navigate', 'Sec-Fetch-Mode', 'cors'], false],
  ['nothing that says it', [], false],
  ['any type', ['Accept', '*/*'], false],
  ['HTML', ['Accept', 'text/html'], true],
  ['what browsers send', ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'], true],
  ['HTML in two fields', ['Accept', 'application/xml;q=0.9', 'Accept', 'Text/HTML; charset=utf-8'], true],
  ['HTML less than JSON', ['Accept', 'application/json, text/html;q=0.9'], false],
  ['HTML as much as JSON', ['Accept', 'application/json;q=0.5, text/html;q=0.5'], true],
  ['HTML refused', ['Accept', 'text/html;q=0'], false],
  ['a weight that is none', ['Accept', 'text/html;q=high'], false],
  ['a type that begins like HTML', ['Accept', 'text/htmlx'], false],
];

for (const [sentence, headers, expected] of rows)
  t.test(`${sentence}: ${expected ? 'a navigation' : 'no navigation'}`, (t) => {
    t.equal(isNavigation(readRequestHead(headers)), expected);
    t.end();
  });

const asked: readonly [sentence: string, mode: string, destination: string, unseen: boolean][] = [
  ['a link that is followed', 'navigate', 'document', false],
  ['what a service worker passes on', 'navigate', 'empty', false],
  ['a browser that doesn’t say', '', '', false],
  ['a frame', 'navigate', 'iframe', true],
  ['an object', 'navigate', 'object', true],
  ['a script', 'cors', 'empty', true],
  ['a script that can’t read the response', 'no-cors', 'empty', true],
  ['a script of the same origin', 'same-origin', 'empty', true],
  ['an image', 'no-cors', 'image', true],
];

for (const [sentence, secFetchMode, secFetchDest, unseen] of asked)
  t.test(`${sentence}: ${unseen ? 'unseen' : 'seen'}`, async (t) => {
    t.equal(isUnseen({ secFetchSite: 'same-origin', secFetchMode, secFetchDest }), unseen);
    t.notOk(isUnseen({ secFetchSite: '', secFetchMode, secFetchDest }), 'a program says no site');
  });
