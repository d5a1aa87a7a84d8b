/** The part of the package that is used here. The package's own types import all of preact's; see `preact.d.ts`. */
declare const htm: {
  bind<T>(
    h: (type: never, props: never, ...children: never[]) => T,
  ): (strings: TemplateStringsArray, ...values: unknown[]) => T;
};
// biome-ignore lint/style/noDefaultExport: the package has no other
export default htm;
