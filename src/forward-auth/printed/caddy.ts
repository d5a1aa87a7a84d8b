import { originOf, type ProxyPlan } from './plan.ts';

/** A Caddyfile. */
export function caddyConfiguration(plan: ProxyPlan): string {
  const { listen, decisions, gateway, service, ownAreas, identity, describing, deleted } = plan;
  const delete_ = (names: readonly string[]) => names.map((name) => `\t\trequest_header -${name}`).join('\n');
  const copied = [...identity, 'X-Request-Id'];
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

	@upgrade header_regexp Connection (?i)(^|,)\\s*upgrade\\s*(,|$)
	@plain not header_regexp Connection (?i)(^|,)\\s*upgrade\\s*(,|$)

	# In this order: names that a client wants taken for headers of one connection alone, names that mislead, whatever the client
	# says of itself, the question, then credentials.
	route {
		request_header @upgrade Connection Upgrade
		request_header @plain -Connection
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
