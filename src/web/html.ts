import htm from 'htm';
import { h, type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** A piece of a page: an element, text, which is escaped, or several of them; null and false are nothing. */
export type Content = VNode | string | null | false | readonly Content[];

/** What a template may contain: content, or the value of an attribute (null, undefined and false leave it out). */
type Value = Content | number | boolean | undefined;

/**
 * An element from a template literal. Every value is escaped, in texts and in attributes; what isn't, such as the names
 * of elements and attributes, is never a value.
 */
export const html: (strings: TemplateStringsArray, ...values: readonly Value[]) => VNode = htm.bind(h);

/** The document of an `html` element, as sent to a browser. */
export function renderDocument(root: VNode): string {
  return `<!doctype html>${renderToString(root)}`;
}
