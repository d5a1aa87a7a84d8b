import t from 'tap';
import type { Break } from '../model/machine/gateway.ts';
import type { Violation } from '../model/promises/history.ts';
import { describeViolations, playRun } from '../model/run.ts';
import { leeway } from '../support/gateway/replicas.ts';

// The model checker against gateways of which one breaks a promise. No faults: only that is to be found.
const broken: Readonly<Record<string, Break & { readonly found: RegExp; readonly graceMs?: number }>> = {
  'what other gateways end is not noticed': {
    file: 'src/stores/sqlite/live-sessions.ts',
    text: 'if (version !== this.#cachedVersion) {',
    by: 'if (false) {',
    found: /session: admitted .*after its end/,
  },
  'a grace is twice as long': {
    file: 'src/stores/session-rotation.ts',
    text: 'state.presented ?? state.issued) < graceMs;',
    by: 'state.presented ?? state.issued) < 2 * graceMs;',
    found: /was not rotated though its grace was over|accepted: it is reuse/,
  },
  'an older cookie is taken for the previous one': {
    file: 'src/stores/session-rotation.ts',
    text: 'if (offered !== state.previous)',
    by: 'if (offered > state.previous)',
    graceMs: 400,
    found: /accepted: it is reuse/,
  },
  'a sign-out is acknowledged and not done': {
    file: 'src/stores/sqlite/sessions.ts',
    text: 'revoke: (id) => write(() => steps.revoke(id)),',
    by: 'revoke: async () => undefined,',
    found: /admitted .*after its end: signed out/,
  },
};

const seconds = 8;
/** A busy machine may do too little in one. */
const mostRuns = 4;
t.setTimeout(240_000 * Object.keys(broken).length);

/** One proves that the checker can find anything; all of them take a minute and a half. */
const tried = Object.entries(broken).slice(0, process.env.POSTERN_TEST_LONG === undefined ? 1 : undefined);

for (const [name, { found, graceMs = 2_000, ...replaced }] of tried)
  t.test(`the checker finds it if ${name}`, async (t) => {
    let violations: readonly Violation[] = [];
    const isFound = () => violations.some(({ promise }) => found.test(promise));
    for (let seed = 1; seed <= mostRuns && !isFound(); seed++) {
      const result = await playRun(t, {
        arrangement: 'sqlite',
        seed,
        seconds,
        gateways: 3,
        clients: 6,
        slowness: leeway,
        faults: /^none$/,
        graceMs,
        broken: replaced,
      });
      violations = result?.violations ?? [];
      t.comment(`SEED=${seed}: ${result?.operations} operations, ${violations.length} violations`);
    }
    const first = violations.filter(({ promise }) => found.test(promise));
    for (const line of describeViolations(first, 1).split('\n')) t.comment(line);
    t.ok(isFound(), `a violation is ${found}`);
  });
