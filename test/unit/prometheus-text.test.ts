import t from 'tap';
import { parsePrometheusText } from '../support/gateway/prometheus-text.ts';

const counter = (...lines: string[]) => `# HELP a b\n# TYPE a counter\n${lines.join('\n')}\n`;
const histogram = (...lines: string[]) => `# HELP a b\n# TYPE a histogram\n${lines.join('\n')}\n`;

t.test('names, labels with escapes, and values are read', async (t) => {
  const text = counter('a{x="1, \\"2\\"\\\\\\n}",y=""} 3', 'a 1.5e+3');
  t.strictSame(parsePrometheusText(text).get('a')!.samples, [
    { name: 'a', labels: { x: '1, "2"\\\n}', y: '' }, value: 3 },
    { name: 'a', labels: {}, value: 1500 },
  ]);
});

const refused: Record<string, string> = {
  'a last line without an end': counter('a 1').slice(0, -1),
  'a sample without a header': 'a 1\n',
  'a type without a help': '# TYPE a counter\na 1\n',
  'a help without a type': '# HELP a b\na 1\n',
  'a type that there is not': counter('a 1').replace('counter', 'number'),
  'a block for the second time': counter('a 1') + counter('a{x="1"} 1'),
  'a sample of another metric': counter('b 1'),
  'a series twice': counter('a{x="1",y="2"} 1', 'a{y="2",x="1"} 1'),
  'a label twice': counter('a{x="1",x="2"} 1'),
  'a label without quotes': counter('a{x=1} 1'),
  'an unknown escape': counter('a{x="\\t"} 1'),
  'a comma at the end': counter('a{x="1",} 1'),
  'empty braces': counter('a{} 1'),
  'no value': counter('a'),
  'an invalid value': counter('a 0x1'),
  'a negative count': counter('a -1'),
  'buckets that fall': histogram('a_bucket{le="1"} 2', 'a_bucket{le="+Inf"} 1', 'a_sum 1', 'a_count 1'),
  'bounds that fall': histogram('a_bucket{le="2"} 1', 'a_bucket{le="1"} 1', 'a_sum 1', 'a_count 1'),
  'no infinite bucket': histogram('a_bucket{le="1"} 1', 'a_sum 1', 'a_count 1'),
  'another count than the last bucket': histogram('a_bucket{le="+Inf"} 1', 'a_sum 1', 'a_count 2'),
  'no sum': histogram('a_bucket{le="+Inf"} 1', 'a_count 1'),
};

t.test('text outside the format is refused:', async (t) => {
  t.doesNotThrow(() => parsePrometheusText(histogram('a_bucket{le="+Inf"} 1', 'a_sum 1', 'a_count 1')));
  for (const [name, text] of Object.entries(refused)) t.throws(() => parsePrometheusText(text), name);
});
