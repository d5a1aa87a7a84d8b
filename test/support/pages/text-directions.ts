import type { Page } from 'playwright-core';

/**
 * What is wrong with the direction of the texts of a page: one that contains `mark` outside a `bdi`, a text outside them
 * that is mirrored, and one that stands before what it comes after.
 */
export function directionProblems(page: Page, mark: string): Promise<string[]> {
  return page.evaluate<string[]>(`(${judge})(${JSON.stringify(mark)})`);
}

/** Runs in the page. */
const judge = `(mark) => {
  const boxOf = (node, index) => {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + 1);
    return range.getBoundingClientRect();
  };
  const isBeside = (one, other) => one.width > 0 && other.width > 0 && one.top < other.bottom && other.top < one.bottom;
  const blockOf = (element) => {
    while (getComputedStyle(element).display === 'inline') element = element.parentElement;
    return element;
  };
  const problems = [];
  const texts = [];
  for (const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walker.nextNode(); ) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (node.data.trim() === '' || parent.closest('script, style, option, noscript') !== null) continue;
    const isInside = parent.closest('bdi') !== null;
    if (node.data.includes(mark) && !isInside) problems.push('outside a bdi: ' + parent.outerHTML);
    if (!isInside) texts.push(node);
  }
  for (const node of texts) {
    const { length } = node.data;
    for (let index = 1; index < length; index++) {
      if (/\\s/.test(node.data[index - 1] + node.data[index])) continue;
      const [before, after] = [boxOf(node, index - 1), boxOf(node, index)];
      if (isBeside(before, after) && after.left < before.left) {
        problems.push('mirrored: ' + node.parentElement.outerHTML);
        break;
      }
    }
  }
  for (const bdi of document.querySelectorAll('bdi')) {
    for (const node of texts) {
      const follows = bdi.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
      if (!follows || blockOf(bdi) !== blockOf(node.parentElement)) continue;
      const own = bdi.getBoundingClientRect();
      const other = boxOf(node, node.data.search(/\\S/));
      if (bdi.getClientRects().length === 1 && isBeside(own, other) && other.left < own.left)
        problems.push('before what it follows: ' + node.parentElement.outerHTML);
    }
  }
  return problems;
}`;
