import t from 'tap';
import type { Config } from '../../src/config/sections/schema.ts';
import { loadGood } from './config-rows.ts';

t.test('defaults are those of the contract, durations in milliseconds and sizes in bytes', async (t) => {
  const { config, folder } = loadGood(t, '');
  t.strictSame(config, {
    tenant: 'acme',
    base_url: 'https://acme.example.com',
    api_path: '/api',
    listen: { host: '0.0.0.0', port: 8080, engine: 'built_in', hsts: false },
    management: { host: '127.0.0.1', port: 9090 },
    trusted_proxies: [],
    stores: {
      records: { kind: 'sqlite', path: `${folder}/data/postern.db` },
      records_connections: 8,
      records_statement_timeout: 1_500,
      sessions: { kind: 'sqlite', path: `${folder}/data/sessions.db` },
      sessions_command_timeout: 500,
      sessions_liveness_age: 5000,
    },
    tokens: { access_lifetime: 600_000, algorithm: 'ES256' },
    sessions: {
      idle_lifetime: 14 * 86_400_000,
      absolute_lifetime: 90 * 86_400_000,
      reuse_grace: 30_000,
      stale_if_error: 30_000,
      cookie: { name: 'service_refresh_cookie', path: '/api', same_site: 'lax', secure: 'auto' },
    },
    passwords: {
      min_length: 12,
      memory: 19 * 1024 ** 2,
      iterations: 2,
      parallelism: 1,
      concurrency: 1,
      queue: 64,
    },
    login_throttle: { per_account_and_address: 10, per_account: 100, per_address: 100, window: 900_000 },
    api_keys: { prefix: 'pst', bearer: false, basic: false },
    cors: { origins: [], expose: [] },
    bootstrap: {},
    paths: {
      semicolons: 'refuse',
      encoded_slashes: 'refuse',
      encoded_delimiters: 'refuse',
      encoded_percent: 'refuse',
      encoded_backslashes: 'refuse',
    },
    headers: { odd_names: 'drop', method_override: 'drop', drop: [], pass: [] },
    limits: {
      connections: 10_000,
      connections_per_address: 0,
      target_bytes: 8192,
      header_bytes: 16_384,
      header_count: 100,
      header_timeout: 10_000,
      body_idle_timeout: 30_000,
      body_rate: 1024,
      write_idle_timeout: 60_000,
      keep_alive_timeout: 65_000,
      requests_per_connection: 0,
      own_body: 65_536,
    },
    shutdown: { delay: 0, timeout: 25_000 },
    scopes: {},
    scope_sets: {},
    users: {},
    identity_providers: {},
    upstreams: {
      app: {
        url: { kind: 'echo' },
        connect_timeout: 2_000,
        response_timeout: 60_000,
        idle_timeout: 300_000,
        max_connections: 256,
        max_waiting: 1024,
        headers: {},
        identity_headers: {},
      },
    },
    routes: [
      {
        prefix: '/',
        upstream: 'app',
        scopes: [],
        accept: ['session', 'api_key'],
        public: false,
        browser: false,
        challenge: 'bearer',
        upgrades: [],
      },
    ],
    signing_keys: { rotate_every: 30 * 86_400_000, publish_ahead: 600_000 },
    endpoints: {
      bootstrap: 'own',
      self: 'upstream',
      self_sessions: 'own',
      self_password: 'own',
      admin_sessions: 'own',
      scope_sets: 'own',
      users: 'upstream',
      audit: 'own',
    },
    forward_auth: [],
    audit: { retention: 90 * 86_400_000, max_events: 1_000_000 },
    workers: 1,
    log: { level: 'info', format: 'auto' },
  } satisfies Config);
});

t.test('an upstream, a route and a provider have the defaults of the contract', async (t) => {
  const { config } = loadGood(
    t,
    `upstreams: { app: { url: "http://127.0.0.1:9000" } }
routes: [{ prefix: /api, upstream: app }]
identity_providers: { idp: { issuer: https://i.example, client_id: a, redirect_uri: https://a.example/in } }`,
  );
  t.strictSame(config.upstreams, {
    app: {
      url: {
        kind: 'server',
        tls: false,
        host: '127.0.0.1',
        port: 9000,
        authority: '127.0.0.1:9000',
        basePath: '',
      },
      connect_timeout: 2000,
      response_timeout: 60_000,
      idle_timeout: 300_000,
      max_connections: 256,
      max_waiting: 1024,
      headers: {},
      identity_headers: {},
    },
  });
  t.strictSame(config.routes, [
    {
      prefix: '/api',
      upstream: 'app',
      scopes: [],
      accept: ['session', 'api_key'],
      public: false,
      browser: false,
      challenge: 'bearer',
      upgrades: [],
    },
  ]);
  t.strictSame(config.identity_providers, {
    idp: {
      issuer: 'https://i.example',
      client_id: 'a',
      redirect_uri: 'https://a.example/in',
      response: 'id_token',
      scopes: ['openid', 'profile', 'email'],
      claims: { username: 'preferred_username', display_name: 'name', email: 'email' },
      accounts: 'create',
      unsolicited: false,
      leeway: 60_000,
      algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      end_session: false,
      start_lifetime: 600_000,
      parameters: {},
      require: {},
      grants: [],
      keep: {},
    },
  });
});
