import { originOf, type ProxyPlan } from './plan.ts';

/** A Caddyfile. */
export function caddyConfiguration(plan: ProxyPlan): string {
  const { listen, decisions, gateway, service, ownAreas, identity, copied, describing, deleted } = plan;
  const delete_ = (names: readonly string[]) => names.map((name) => `\t\trequest_header -${name}`).join('\n');
  const isAny = listen.host === '0.0.0.0' || listen.host === '::';
  return `# Caddyfile
{
	# The headers of a request are in the line of an error: keys don't belong there.
	log {
		format filter {
			wrap json
			request>headers>X-Api-Key replace REDACTED
		}
	}
}

http://:${listen.port} {${isAny ? '' : `\n\tbind ${listen.host}`}
	# Postern's own paths.
	@own path ${ownAreas.flatMap((area) => [area, `${area}/*`]).join(' ')}
	handle @own {
		reverse_proxy ${originOf(gateway)}
	}

	@websocket {
		header_regexp Connection (?i)(^|,)\\s*upgrade\\s*(,|$)
		header_regexp Upgrade (?i)^\\s*websocket\\s*$
	}

	# In this order: WebSockets alone, for by another upgrade (h2c) requests would pass unasked; names that mislead, whatever the
	# client says of itself, the question, then credentials.
	route {
		vars upgrade ""
		vars @websocket upgrade websocket
		request_header -Connection
		request_header -Upgrade
		@upgrade vars {vars.upgrade} websocket
		request_header @upgrade Connection Upgrade
		request_header @upgrade Upgrade websocket
		request_header -*_*
		request_header -X-Auth-*
${delete_([...deleted, ...describing, ...identity.filter((name) => !name.startsWith('X-Auth-'))])}
		forward_auth ${originOf(decisions)} {
			uri /
			copy_headers ${copied.join(' ')}
		}
${delete_(['Authorization', 'X-API-Key'])}
		reverse_proxy ${originOf(service)}
	}
}
`;
}
