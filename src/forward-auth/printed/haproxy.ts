import { authorityOf, ownPattern, type Place, type ProxyPlan, requireNames } from './plan.ts';

/** HAProxy's configuration, and the agent in Lua that it loads. */
export function haproxyConfiguration(plan: ProxyPlan): Readonly<Record<string, string>> {
  requireNames('HAProxy', plan);
  return { 'haproxy.cfg': configurationOf(plan), 'postern.lua': agentOf(plan) };
}

/**
 * Where the agent asks: a socket in a directory of HAProxy's own. One without a file could be taken over by anyone on the machine
 * while HAProxy stops, and asked by anyone while it runs.
 */
const questionsOf = ({ listen: { host, port } }: ProxyPlan) =>
  `unix@/run/haproxy/postern-${host.replaceAll(':', '_')}-${port}.sock`;

const tlsTo = ({ host }: Place) =>
  ` ssl verify required ca-file @system-ca sni str(${host}) verifyhost ${host}`;

function configurationOf(plan: ProxyPlan): string {
  const { listen, decisions, gateway, service, ownAreas, identity, describing, deleted } = plan;
  const server = (name: string, place: Place) =>
    `  server ${name} ${authorityOf(place)}${place.tls ? tlsTo(place) : ''}`;
  return `# haproxy.cfg, for HAProxy 2.6 or later; postern.lua beside it
global
  # Room for the headers that Postern adds to a hundred of a client's.
  tune.http.maxhdr 256
  # HAProxy loses headers that don't fit, without an error: half of a buffer is kept free for those that are added.
  tune.bufsize 65536
  tune.maxrewrite 32768
  # Where postern.lua is, wherever HAProxy is started.
  default-path config
  lua-load postern.lua

defaults
  mode http
  timeout connect 5s
  timeout client 1m
  timeout server 1m
  timeout http-request 10s

frontend web
  bind ${authorityOf(listen)}
  # Postern's own paths.
  acl is_own path -m reg ${ownPattern(ownAreas)}
  # What Postern judges is what is sent: an absolute target would reach the service as it is.
  http-request set-uri %[pathq]
  # WebSockets alone: by another upgrade (h2c) requests would pass unasked. No other name counts in Connection, either.
  http-request set-var(txn.is_websocket) bool(true) if { req.hdr(Connection) -i upgrade } { req.hdr(Upgrade) -i websocket }
  http-request del-header Connection
  http-request del-header Upgrade
  http-request set-header Connection upgrade if { var(txn.is_websocket) -m bool }
  http-request set-header Upgrade websocket if { var(txn.is_websocket) -m bool }
  http-request set-header X-Forwarded-For %[src]
  http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]
  http-request set-header X-Forwarded-Host %[req.hdr(Host)]
  # What services take for the mount point, the target, the method or the user, and odd spellings of any name.
  http-request del-header [^A-Za-z0-9-] -m reg
${[...deleted, ...describing].map((name) => `  http-request del-header ${name}`).join('\n')}
${identity.map((name) => `  http-request del-header ${name} unless is_own`).join('\n')}
  http-request del-header x-auth- -m beg unless is_own
  http-request lua.postern unless is_own
  # HAProxy goes on after an error in Lua: only what the agent has decided passes.
  http-request deny deny_status 503 unless is_own or { var(txn.postern_decided) -m bool }
  use_backend postern if is_own
  default_backend service

# The agent asks here, so that connections to Postern are kept, and its certificate is verified.
frontend decisions
  bind ${questionsOf(plan)} mode 600
  default_backend decisions

backend decisions
  http-reuse always
  timeout server 5s
  retries 1
  retry-on conn-failure empty-response
${server('decisions', decisions)}

backend postern
${server('postern', gateway)}

backend service
${server('service', service)}
`;
}

function agentOf(plan: ProxyPlan): string {
  const names = plan.copied.map((name) => `"${name.toLowerCase()}"`);
  return `-- postern.lua: asks Postern about each request; what it refuses is answered as it refuses it.
local decisions = "${questionsOf(plan)}"
-- Who is calling, and cookies without Postern's own, in the answer: these replace whatever the client sent.
local copied = { ${names.join(', ')} }
-- They belong to the connection of the client.
local hop_by_hop = {
  ["connection"] = true, ["keep-alive"] = true, ["proxy-connection"] = true, ["te"] = true, ["trailer"] = true,
  ["transfer-encoding"] = true, ["upgrade"] = true, ["content-length"] = true, ["expect"] = true,
}

local function refuse(txn, status, headers, body)
  local reply = txn:reply({ status = status })
  for name, values in pairs(headers) do
    if not hop_by_hop[name] then
      for _, value in pairs(values) do reply:add_header(name, value) end
    end
  end
  reply:set_body(body)
  txn:done(reply)
end

core.register_action("postern", { "http-req" }, function(txn)
  local question, count = {}, 0
  for name, values in pairs(txn.http:req_get_headers()) do
    if not hop_by_hop[name] then
      question[name] = {}
      for _, value in pairs(values) do
        table.insert(question[name], value)
        count = count + 1
      end
    end
  end
  -- HAProxy does not survive a question with more than tune.http.maxhdr.
  if count > 128 then return refuse(txn, 431, {}, "") end
  question["x-original-method"] = { txn.sf:method() }
  question["x-original-uri"] = { txn.sf:pathq() }

  local answer = core.httpclient():get({ url = "http://decisions/", dst = decisions, headers = question, timeout = 5000 })
  -- Only an answer of Postern has that header.
  local is_answer = answer ~= nil and answer.headers ~= nil and answer.headers["x-request-id"] ~= nil
  if not is_answer then
    return refuse(txn, 503, { ["retry-after"] = { "1" } }, "")
  end
  if answer.status ~= 200 then
    return refuse(txn, answer.status, answer.headers, answer.body or "")
  end

  local function first(name)
    for _, value in pairs(answer.headers[name] or {}) do return value end
    return ""
  end
  local is_known = first("x-auth-subject") ~= ""
  -- An authenticated caller has the scopes' header, even without any scope.
  local function is_set(name) return first(name) ~= "" or (is_known and name == "x-auth-scopes") end
  for _, name in ipairs(copied) do
    txn.http:req_del_header(name)
    if is_set(name) then txn.http:req_set_header(name, first(name)) end
  end
  for name in pairs(txn.http:req_get_headers()) do
    if name:sub(1, 7) == "x-auth-" and first(name) == "" and name ~= "x-auth-scopes" then
      txn.http:req_del_header(name)
    end
  end
  -- The service needs no credentials.
  txn.http:req_del_header("authorization")
  txn.http:req_del_header("x-api-key")
  -- HAProxy leaves out a header for which there is no room, without an error.
  local set = txn.http:req_get_headers()
  for _, name in ipairs(copied) do
    if is_set(name) and (set[name] == nil or set[name][0] ~= first(name) or set[name][1] ~= nil) then
      return refuse(txn, 503, { ["retry-after"] = { "1" } }, "")
    end
  end
  txn:set_var("txn.postern_decided", true)
end)
`;
}
