import { stringify } from 'yaml';

/** Values of holes, by name: texts, numbers, conditions, lists of these, and objects of these (`{{name.member}}`). */
export type Holes = Readonly<Record<string, unknown>>;

const filters: Readonly<Record<string, (text: string) => string>> = {
  lower: (text) => text.toLowerCase(),
  snake: (text) => text.toLowerCase().replaceAll('-', '_'),
  /** A scalar of YAML, in quotes where it needs them. */
  yaml: (text) => stringify(text, { lineWidth: 0 }).trimEnd(),
};

/**
 * Fills the holes `{{name}}` of a template; filters may follow the name. A line with the hole of a list is repeated for each
 * item. Lines between `{{#name}}` and `{{/name}}` are repeated for each item of a list, which `name` stands for there, or kept if
 * a condition is true; within a line, only conditions work. Lines that begin with `{{!` are comments.
 */
export function fillTemplate(template: string, holes: Holes): string {
  return fillLines(template.split('\n'), holes).join('\n');
}

function fillLines(lines: readonly string[], holes: Holes): string[] {
  const filled: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!;
    const section = /^\s*\{\{#([\w.]+)\}\}$/.exec(line)?.[1];
    if (section !== undefined) {
      const end = lines.findIndex((each, at) => at > index && each.trim() === `{{/${section}}}`);
      const inner = lines.slice(index + 1, end);
      for (const scope of scopesOf(section, holes)) filled.push(...fillLines(inner, scope));
      index = end;
    } else if (!/^\s*\{\{!/.test(line)) filled.push(...fillLine(line, holes));
  }
  return filled;
}

function fillLine(line: string, holes: Holes): string[] {
  const text = line.replaceAll(/\{\{#([\w.]+)\}\}(.*?)\{\{\/\1\}\}/g, (_, name: string, inner: string) =>
    lookUp(name, holes) ? inner : '',
  );
  const names = [...text.matchAll(/\{\{([\w.]+)/g)].map(([, name]) => name!);
  const list = names.find((name) => Array.isArray(lookUp(name, holes)));
  return (list === undefined ? [holes] : scopesOf(list, holes)).map((scope) => fillHoles(text, scope));
}

function fillHoles(text: string, holes: Holes): string {
  return text.replaceAll(/\{\{([\w.]+)((?: \w+)*)\}\}/g, (_, name: string, names: string) =>
    names
      .split(' ')
      .slice(1)
      .reduce((value, filter) => filters[filter]!(value), String(lookUp(name, holes))),
  );
}

/** The holes for each repetition of a section or line. */
function scopesOf(name: string, holes: Holes): Holes[] {
  const value = lookUp(name, holes);
  if (Array.isArray(value)) return value.map((item: unknown) => ({ ...holes, [name]: item }));
  return value ? [holes] : [];
}

/** The value of a hole. Throws a TypeError for an unknown name: a hole never stays empty by mistake. */
function lookUp(name: string, holes: Holes): unknown {
  let value: unknown = holes[name];
  // The item of a list that is a member of another item has the whole name.
  if (!(name in holes)) value = name.split('.').reduce<unknown>((each, part) => (each as Holes)[part], holes);
  if (value === undefined) throw new TypeError(`no value for {{${name}}}`);
  return value;
}
