import t from 'tap';
import { decisionModes } from '../../src/config/sections/forward-auth.ts';
import { Refusal, type RefusalCode } from '../../src/errors.ts';
import { modes, refusalShapeOf } from '../../src/forward-auth/modes.ts';
import { refusalParts } from '../../src/http/reply.ts';

t.test('a refusal has a status that its proxy understands, and all else as it is', async (t) => {
  const statuses: Record<string, readonly number[]> = {
    // By code, in the order below.
    nginx: [403, 401, 403, 403, 403, 503, 500],
    ingress_nginx: [403, 401, 403, 403, 403, 503, 500],
    haproxy: [400, 401, 403, 404, 429, 503, 500],
    traefik: [400, 401, 403, 404, 429, 503, 500],
    caddy: [400, 401, 403, 404, 429, 503, 500],
    envoy: [400, 401, 403, 404, 429, 403, 403],
    envoy_grpc: [400, 401, 403, 404, 429, 503, 500],
  };
  const codes: RefusalCode[] = [
    'ambiguous_credentials',
    'invalid_token',
    'insufficient_scope',
    'not_found',
    'too_many_attempts',
    'store_unavailable',
    'internal_error',
  ];
  for (const mode of decisionModes)
    for (const [index, code] of codes.entries()) {
      const parts = refusalParts(new Refusal(code, { neededScopes: ['a'] }), 'acme', 'r-1', false);
      t.strictSame(
        refusalShapeOf(modes[mode])(parts),
        { ...parts, status: statuses[mode]![index], headers: [...parts.headers, 'X-Auth-Code', code] },
        `${mode} ${code}`,
      );
    }
});

t.test('nginx hands on one challenge, so several are one field there', async (t) => {
  const both = ['Bearer realm="acme"', 'Basic realm="acme", charset="UTF-8"'];
  for (const mode of decisionModes) {
    const parts = refusalParts(new Refusal('not_authenticated'), 'acme', 'r-1', false, 'both');
    const { headers } = refusalShapeOf(modes[mode])(parts);
    const challenges = headers.filter((_, index) => headers[index - 1] === 'WWW-Authenticate');
    t.strictSame(challenges, mode.endsWith('nginx') ? [both.join(', ')] : both, mode);
    t.strictSame(headers.slice(-2), ['X-Auth-Code', 'not_authenticated']);
  }
});
