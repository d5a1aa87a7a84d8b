import type { Rule, RuleContext } from './rule.ts';

type Upstreams = NonNullable<Parameters<Rule>[0]['upstreams']>;
type Assertion = NonNullable<NonNullable<Upstreams[string]>['assertion']>;

/** The `assertion` sections of upstreams, each with the upstream's name. */
function* assertions(upstreams: Upstreams = {}): Generator<readonly [name: string, assertion: Assertion]> {
  for (const [name, upstream] of Object.entries(upstreams))
    if (upstream?.assertion !== undefined) yield [name, upstream.assertion];
}

/** The path and algorithm of every `assertion` section, of upstreams and of decision listeners. */
function* signed({ upstreams, forward_auth = [] }: Parameters<Rule>[0]) {
  for (const [name, assertion] of assertions(upstreams))
    yield { path: ['upstreams', name, 'assertion'], algorithm: assertion.algorithm };
  for (const [index, listener] of forward_auth.entries())
    if (listener?.assertion !== undefined)
      yield { path: ['forward_auth', index, 'assertion'], algorithm: listener.assertion.algorithm };
}

// A secret beside another algorithm would suggest that the secret signs.
const secretIsForHs256: Rule = (config, { report, isWritten }) => {
  for (const { path, algorithm } of signed(config)) {
    const hasSecret = isWritten([...path, 'secret']);
    if (algorithm === 'HS256' && !hasSecret) report([...path, 'secret'], 'is required for HS256', 'key');
    if (algorithm !== undefined && algorithm !== 'HS256' && hasSecret)
      report([...path, 'secret'], 'requires algorithm: HS256', 'key');
  }
};

// Otherwise a service could use an assertion that it received, or can sign itself, at another service.
const servicesAreApart: Rule = ({ upstreams }, context) => {
  const audiences = new Map<string, string>();
  const secrets = new Map<string, string>();
  for (const [name, { audience = name, secret }] of assertions(upstreams)) {
    differ(audiences, audience, name, 'audience', context);
    if (secret !== undefined) differ(secrets, secret, name, 'secret', context);
  }
};

function differ(
  known: Map<string, string>,
  value: string,
  name: string,
  key: 'audience' | 'secret',
  { report, isWritten }: RuleContext,
): void {
  const other = known.get(value);
  known.set(value, name);
  if (other === undefined) return;
  const path = ['upstreams', name, 'assertion', key];
  // An audience that names another upstream is the mistake, not that upstream's default audience.
  const [at, of] = isWritten(path) ? [path, other] : [['upstreams', other, 'assertion', key], name];
  report(at, `must not be that of another upstream, ${of}`);
}

/** Rules for `assertion` sections that span keys. */
export const assertionRules: readonly Rule[] = [secretIsForHs256, servicesAreApart];
