import type { HostPlan } from './plan-hosts.ts';
import type { Holes } from './template.ts';

/** Values for Traefik's routers and middlewares of a host. */
export function traefikHost(host: HostPlan): Holes {
  const { name, port, pattern, isWildcard, ownAreas } = host;
  const rule = isWildcard ? `HostRegexp(\`${pattern}\`)` : `Host(\`${name}\`)`;
  return {
    ...host,
    rule,
    ownRule: `${rule} && (${traefikPaths(ownAreas)})`,
    webSocketRule: `${rule} && HeaderRegexp(\`Upgrade\`, \`(?i)^\\s*websocket\\s*$\`)`,
    // An exact name comes before a wildcard.
    priority: isWildcard ? 1 : 2,
    told: name + port,
    otherPort: `^[a-z]+://((?i:${pattern.slice(1, -1)}))${otherThan(port)}(/.*|)$`,
    ownPort: `${host.scheme}://\${1}${port}\${2}`,
  };
}

/** A rule for the paths of areas, with all below them. */
export function traefikPaths(areas: readonly string[]): string {
  return areas.map((area) => `Path(\`${area}\`) || PathPrefix(\`${area}/\`)`).join(' || ');
}

/** A regular expression for what may stand after a name in place of the port: another one, or a dot at its end. */
function otherThan(port: string): string {
  const withDot = '\\.(?::\\d*)?';
  if (port === '') return `(?:${withDot}|:\\d*)`;
  const digits = port.slice(1);
  const differing = [...digits].map((digit, at) => {
    const others = '0123456789'.replace(digit, '');
    return `${digits.slice(0, at)}(?:[${others}]\\d*)?`;
  });
  return `(?:${withDot}|:(?:${[...differing, `${digits}\\d+`].join('|')})|)`;
}
