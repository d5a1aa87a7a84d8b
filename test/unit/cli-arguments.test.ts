import t from 'tap';
import { parseCall } from '../../src/cli/arguments.ts';
import type { Command } from '../../src/cli/command.ts';

function commandOf(...operands: string[]): Command {
  const options: Command['options'] = {
    user: { value: 'NAME', help: '' },
    'revoke-what-has-gone': { help: '' },
  };
  return { name: 'x revoke', operands, summary: '', example: '', options, run: async () => {} };
}

const sessionId = `-${'p'.repeat(20)}-`;
const kid = `-${'_'.repeat(41)}A`;

t.test('an id may begin with the sign of an option', async (t) => {
  for (const text of [sessionId, kid, `--${'a'.repeat(20)}`]) {
    const operand = text.length === kid.length ? 'KID' : '[ID]';
    for (const args of [
      [text, '--config', 'c.yaml'],
      ['-c', 'c.yaml', text],
    ]) {
      const call = parseCall(commandOf(operand), args, process);
      t.strictSame([call.operands, call.text('config')], [[text], 'c.yaml']);
    }
  }
});

t.test('nothing else does', async (t) => {
  for (const args of [['-p'], ['--unknown'], [`${sessionId}x`], [`-${'.'.repeat(21)}`]])
    t.throws(() => parseCall(commandOf('ID'), args, process), { code: 'usage' }, args.join(' '));
  t.throws(() => parseCall(commandOf('NAME'), [sessionId], process), { code: 'usage' });
  t.throws(() => parseCall(commandOf('ID'), [sessionId, kid], process), { code: 'usage' });
  // As long as an id.
  const call = parseCall(commandOf('[ID]'), ['--revoke-what-has-gone'], process);
  t.ok(call.isSet('revoke-what-has-gone'));
});
