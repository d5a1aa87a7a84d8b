import type { Config } from '../config/sections/schema.ts';
import { answeredNames, createDecision, type Decision } from '../forward-auth/answer.ts';
import { modes, refusalShapeOf } from '../forward-auth/modes.ts';
import { createAliasesIn } from '../forward-auth/received-headers.ts';
import type { OwnCookies } from '../http/cookies.ts';
import { createCors } from '../http/cors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { HeaderRules } from '../http/header-names.ts';
import { createReplies } from '../http/reply.ts';
import { normalisedName } from '../rules/known-headers.ts';
import type { Assertions } from './assertions.ts';
import { withoutPassed } from './header-rules.ts';

/** Parts that decisions share with the request path. */
export interface DecisionParts {
  readonly headerRules: HeaderRules;
  readonly ownCookies: OwnCookies;
  readonly assertions: Pick<Assertions, 'assertForListener'>;
  readonly onInternalError: (error: unknown, exchange: Exchange) => void;
}

/** CORS switched off: a proxy that asks for decisions handles CORS itself for the requests that it forwards. */
const noCors = createCors({ origins: [] });

/** Builds the answers of each listener, in the order of `forward_auth`. */
export function composeDecisions(
  config: Config,
  { headerRules, ownCookies, assertions, onInternalError }: DecisionParts,
): Decision[] {
  const identity = Object.values(config.upstreams).flatMap((upstream) =>
    Object.keys(upstream.identity_headers),
  );
  const names = answeredNames(identity);
  const answered = new Set(['cookie', ...names.map((name) => name.toLowerCase())]);
  const answersCredentials = config.routes.some((route) => route.authorization === 'pass');
  const passesCookies = !headerRules.dropped.some((name) => normalisedName(name) === 'cookie');
  return config.forward_auth.map((listener, index) => {
    const mode = modes[listener.mode];
    return createDecision({
      mode,
      passesAliases: listener.client_headers === 'pass',
      aliasesIn: createAliasesIn(
        mode,
        answered,
        listener.assertion === undefined ? headerRules : withoutPassed(headerRules),
      ),
      names,
      ownCookies,
      passesCookies,
      answersCredentials,
      assert: assertions.assertForListener(index),
      replies: createReplies({
        realm: config.tenant,
        cors: noCors,
        fieldsOn: () => [],
        insteadOf: () => null,
        shape: refusalShapeOf(mode),
        onInternalError,
      }),
    });
  });
}
