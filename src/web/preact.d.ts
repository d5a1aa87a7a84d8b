/** The part of the package that is used here. The package's own types declare the globals of browsers, in every file. */
export interface VNode<P = unknown> {
  readonly type: unknown;
  readonly props: P;
}
export function h(type: string, props: object | null, ...children: unknown[]): VNode;
