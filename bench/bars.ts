/** A bar of a picture. */
export interface Bar {
  readonly label: string;
  /** Its length is in proportion. */
  readonly value: number;
  /** What is written at its end. */
  readonly figure: string;
  /** Whether it is one of Postern's, which stand out. */
  readonly isOurs: boolean;
}

/** A picture of bars. */
export interface BarPicture {
  readonly title: string;
  readonly subtitle: string;
  readonly bars: readonly Bar[];
}

/** As wide as the narrowest telephones: there, letters have the size they are given here. */
const width = 320;
const margin = 12;
const textSize = 12;
/** A bar has its label above it, so that long names need no column of their own. */
const rowHeight = 32;
const barHeight = 10;
const subtitleWidth = 48;

/** Draws horizontal bars as SVG, in the colours of light or dark, whichever the reader prefers. */
export function drawBars({ title, subtitle, bars }: BarPicture): string {
  const subtitleLines = wrap(subtitle, subtitleWidth);
  const top = margin + 20 + subtitleLines.length * 16 + 10;
  const height = top + bars.length * rowHeight + margin;
  const longest = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  const rows = bars.map(({ label, value, figure, isOurs }, index) => {
    const y = top + index * rowHeight;
    const length = Math.max(1, Math.round(((width - 2 * margin) * value) / longest));
    const kind = isOurs ? ' class="ours"' : '';
    return `<g${kind}><text x="${margin}" y="${y + 12}">${escapeMarkup(label)}</text><text x="${width - margin}" y="${y + 12}" text-anchor="end">${escapeMarkup(figure)}</text><rect x="${margin}" y="${y + 16}" width="${length}" height="${barHeight}" rx="2"/></g>`;
  });
  const lines = subtitleLines.map(
    (line, index) =>
      `<text class="subtitle" x="${margin}" y="${margin + 32 + index * 16}">${escapeMarkup(line)}</text>`,
  );
  const summary = bars.map(({ label, figure }) => `${label} ${figure}`).join(', ');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title summary">
<title id="title">${escapeMarkup(title)}</title>
<desc id="summary">${escapeMarkup(`${subtitle}: ${summary}`)}</desc>
<style>
svg { background: #ffffff; font: ${textSize}px system-ui, sans-serif; fill: #1f2328 }
rect { fill: #8c959f }
.title { font-size: 15px; font-weight: 600 }
.subtitle { fill: #59636e }
.ours { font-weight: 600 }
.ours rect { fill: #0969da }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117; fill: #f0f6fc }
rect { fill: #656c76 }
.subtitle { fill: #9198a1 }
.ours rect { fill: #4493f8 }
}
</style>
<text class="title" x="${margin}" y="${margin + 12}">${escapeMarkup(title)}</text>
${lines.join('\n')}
${rows.join('\n')}
</svg>
`;
}

function wrap(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length + 1 > columns && line !== '') lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

function escapeMarkup(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
