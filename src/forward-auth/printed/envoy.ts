import { isIP } from 'node:net';
import { stringify } from 'yaml';
import { originOf, type Place, type ProxyPlan } from './plan.ts';

const types = 'type.googleapis.com/envoy.extensions';
const router = {
  name: 'envoy.filters.http.router',
  typed_config: { '@type': `${types}.filters.http.router.v3.Router` },
};

/** A whole bootstrap configuration of Envoy, which asks over HTTP or by gRPC. */
export function envoyConfiguration(plan: ProxyPlan, protocol: 'http' | 'grpc'): string {
  const { listen, decisions, gateway, service, ownAreas } = plan;
  const unasked = {
    'envoy.filters.http.ext_authz': {
      '@type': `${types}.filters.http.ext_authz.v3.ExtAuthzPerRoute`,
      disabled: true,
    },
  };
  const own = ownAreas.map((area) => ({
    match: { path_separated_prefix: area, headers: [fitPath] },
    route: to('postern'),
    typed_per_filter_config: unasked,
  }));
  const manager = {
    '@type': `${types}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'web',
    // The address of the peer ends X-Forwarded-For, and is no client's word.
    use_remote_address: true,
    upgrade_configs: [{ upgrade_type: 'websocket' }],
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          // Envoy appends to what a client claims.
          request_headers_to_add: [
            overwriting('X-Forwarded-For', '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%'),
            overwriting('X-Forwarded-Host', '%REQ(:AUTHORITY)%'),
          ],
          routes: [...own, upgrades, { match: { prefix: '/', headers: [fitPath] }, route: to('service') }],
        },
      ],
    },
    http_filters: [
      { name: 'envoy.filters.http.ext_authz', typed_config: authorization(plan, protocol) },
      router,
    ],
  };
  const chain = {
    filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }],
  };
  return stringify(
    {
      static_resources: {
        listeners: [{ name: 'web', address: socketAddress(listen), filter_chains: [chain] }],
        clusters: [
          { ...cluster('decisions', decisions), ...(protocol === 'grpc' && speaksHttp2) },
          cluster('postern', gateway),
          cluster('service', service),
        ],
      },
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
}

function authorization({ decisions, copied }: ProxyPlan, protocol: 'http' | 'grpc'): object {
  const common = {
    '@type': `${types}.filters.http.ext_authz.v3.ExtAuthz`,
    transport_api_version: 'V3',
    // If Postern can't be asked, no request passes, and clients may try again.
    failure_mode_allow: false,
    status_on_error: { code: 'ServiceUnavailable' },
  };
  if (protocol === 'grpc')
    return {
      ...common,
      // Each field by itself: joined ones can't be told from one with a comma.
      encode_raw_headers: true,
      grpc_service: { envoy_grpc: { cluster_name: 'decisions' }, timeout: '5s' },
    };
  return {
    ...common,
    // All of them: what the gateway would have dropped is removed by the names that it sees here.
    allowed_headers: { patterns: [{ safe_regex: { regex: '.*' } }] },
    http_service: {
      server_uri: { uri: originOf(decisions), cluster: 'decisions', timeout: '5s' },
      path_prefix: '/check',
      authorization_response: {
        allowed_upstream_headers: {
          patterns: copied.map((name) => ({ exact: name.toLowerCase() })),
        },
      },
    },
  };
}

/** A route without a time limit: by default every response and stream is cut after 15 s. */
const to = (name: string) => ({ cluster: name, timeout: '0s' });

const overwriting = (key: string, value: string) => ({
  header: { key, value },
  append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
});

/** Of other bytes Envoy makes others when it asks. */
const fitPath = { name: ':path', string_match: { safe_regex: { regex: '[!-~]+' } } };

/** Envoy passes on the `Connection` of an upgrade, and with it whatever names the client lists there. */
const upgrades = {
  match: { prefix: '/', headers: [{ name: 'Upgrade', present_match: true }, fitPath] },
  route: to('service'),
  request_headers_to_add: [overwriting('Connection', 'upgrade')],
};

const speaksHttp2 = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': `${types}.upstreams.http.v3.HttpProtocolOptions`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

const socketAddress = ({ host, port }: Omit<Place, 'tls'>) => ({
  socket_address: { address: host, port_value: port },
});

function cluster(name: string, place: Place): object {
  const endpoint = { endpoint: { address: socketAddress(place) } };
  const kind = isIP(place.host) === 0 ? 'DNS' : 'IP_ADDRESS';
  const tls = {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': `${types}.transport_sockets.tls.v3.UpstreamTlsContext`,
      ...(kind === 'DNS' && { sni: place.host }),
      common_tls_context: {
        validation_context: {
          trusted_ca: { filename: '/etc/ssl/certs/ca-certificates.crt' },
          // Without it Envoy accepts the certificate of any other host.
          match_typed_subject_alt_names: [{ san_type: kind, matcher: { exact: place.host } }],
        },
      },
    },
  };
  return {
    name,
    type: 'STRICT_DNS',
    // By default a name with an IPv6 address is asked there alone, and 0.0.0.0 hears none of it.
    dns_lookup_family: 'V4_PREFERRED',
    connect_timeout: '5s',
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [endpoint] }] },
    ...(place.tls && { transport_socket: tls }),
  };
}
