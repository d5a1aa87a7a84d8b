import htm from 'htm';
import { h, type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** A piece of a page: an element, a text, which is escaped, or several pieces; null and false render nothing. */
export type Content = VNode | string | null | false | readonly Content[];

/** A value in a template: content, or the value of an attribute; null, undefined and false leave the attribute out. */
type Value = Content | number | boolean | undefined;

/**
 * An element from a template literal. Every value is escaped, in texts and in attributes; names of elements and attributes are
 * never values.
 */
export const html: (strings: TemplateStringsArray, ...values: readonly Value[]) => VNode = htm.bind(h);

/** The document of an `html` element, as sent to a browser. */
export function renderDocument(root: VNode): string {
  return `<!doctype html>${renderToString(root)}`;
}
