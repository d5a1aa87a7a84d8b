import t from 'tap';
import { parseOptions, parts } from '../../bench/options.ts';
import { requireIdentity, spoil } from '../../bench/probe.ts';

const parse = (...args: string[]) => parseOptions(args, ['a', 'b']);

t.test('by default everything is measured, written and checked', async (t) => {
  t.match(parse(), { only: undefined, rounds: 12, seconds: 3, connections: 64, write: true, check: true });
  t.same([...parse().parts], parts);
});

t.test('a run that is smaller in any way writes nothing', async (t) => {
  for (const args of [
    ['--rounds', '1'],
    ['--seconds', '1'],
    ['--only', 'a'],
    ['--parts', 'offered'],
    ['--quick'],
    ['--instances', '10'],
  ])
    t.equal(parse(...args).write, false, args.join(' '));
  t.equal(parse('--rounds', '1', '--write').write, true);
  t.equal(parse('--rounds', '11').check, false, 'nor does it judge');
  t.equal(parse('--rounds', '1', '--check').check, true);
});

t.test('some peers alone are measured without bodies, and not checked', async (t) => {
  const { only, parts, check } = parse('--only', 'a,b');
  t.same(only, ['a', 'b']);
  t.notOk(parts.has('bodies'));
  t.equal(check, false);
});

t.test('parts are those that are named', async (t) => {
  t.same([...parse('--parts', 'offered,start').parts], ['offered', 'start']);
});

t.test(
  'upkeep is measured over its whole time unless it is to be quick, and each time can be set',
  async (t) => {
    t.same(parse().upkeep, { idleSeconds: 20, loadSeconds: 60, laterSeconds: 600, instances: 100 });
    t.same(parse('--quick').upkeep, { idleSeconds: 1, loadSeconds: 1, laterSeconds: 1, instances: 2 });
    t.match(parse('--quick', '--instances', '5', '--later-seconds', '9').upkeep, {
      instances: 5,
      laterSeconds: 9,
    });
  },
);

t.test('unknown peers, parts and counts are refused', async (t) => {
  t.throws(() => parse('--only', 'c'), /no peer "c"/);
  t.throws(() => parse('--parts', 'offered,all'), /no part "all"/);
  t.throws(() => parse('--rounds', '0'), /--rounds/);
});

t.test('a spoilt credential differs in one character of its end', async (t) => {
  t.equal(spoil('header.claims.signature'), 'header.claims.sAgnature');
  t.equal(spoil('pst_A1234567'), 'pst_B1234567');
  t.equal(spoil('pst_a1234567'), 'pst_B1234567', 'a key that differs in case alone is the same to nginx');
});

t.test('the upstream must be told who is calling', async (t) => {
  const head = (...fields: string[]) => ['GET /api HTTP/1.1', 'host: a', ...fields].join('\r\n');
  requireIdentity(head('x-auth-subject: subject-1'), 'X-Auth-Subject');
  t.throws(() => requireIdentity(head(), 'X-Auth-Subject'), /got no X-Auth-Subject/);
  t.throws(() => requireIdentity(head('x-auth-subject: '), 'X-Auth-Subject'), /got no X-Auth-Subject/);
  t.throws(() => requireIdentity(head('x-auth-subject-id: 1'), 'X-Auth-Subject'), /got no/);
  const both = head('x-auth-subject: subject-1', 'x-auth-subject: forged-by-the-client');
  t.throws(() => requireIdentity(both, 'X-Auth-Subject'), /made up/);
});
