/** Marks other than the hyphen that a name may hold (RFC 9110 §5.6.2), and more than a mark. */
const marks = [..."_.!#$%&'*+^`|~", '--', '-_'];

/** Spellings of a name: `{{Name}}`, `{{name/_}}` with underscores for hyphens, `{{NAME/./first}}` for only the first one. */
export function spellingsOf(header: string): Record<string, string> {
  const cases = {
    Name: header,
    name: header.toLowerCase(),
    NAME: header.toUpperCase(),
    nAmE: [...header].map((c) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase())).join(''),
  };
  const spellings: Record<string, string> = { ...cases };
  for (const [form, text] of Object.entries(cases)) {
    spellings[`${form}/none`] = text.replaceAll('-', '');
    for (const mark of marks) {
      const last = text.lastIndexOf('-');
      spellings[`${form}/${mark}`] = text.replaceAll('-', () => mark);
      spellings[`${form}/${mark}/first`] = text.replace('-', () => mark);
      spellings[`${form}/${mark}/last`] = last < 0 ? text : text.slice(0, last) + mark + text.slice(last + 1);
    }
  }
  return spellings;
}
