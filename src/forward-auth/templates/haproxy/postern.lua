-- postern.lua: asks Postern about each request; what it refuses is answered as it refuses it.
local decisions = "{{questions}}"
-- Who is calling, and cookies without Postern's own, in the answer: these replace whatever the client sent.
local copied = { {{copiedNames}} }
{{#passesSome}}
-- They begin as Postern's headers, and are the service's own.
local passed = { {{passedNames}} }
{{/passesSome}}
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
{{#namesHosts}}
  question["x-original-host"] = { txn:get_var("txn.postern_host") }
{{/namesHosts}}

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
    if name:sub(1, 7) == "x-auth-"{{#passesSome}} and not passed[name]{{/passesSome}} and first(name) == "" and name ~= "x-auth-scopes" then
      txn.http:req_del_header(name)
    end
  end
{{#hidesCredentials}}
  -- The service needs no credentials.
  txn.http:req_del_header("authorization")
  txn.http:req_del_header("x-api-key")
{{/hidesCredentials}}
  -- HAProxy leaves out a header for which there is no room, without an error.
  local set = txn.http:req_get_headers()
  for _, name in ipairs(copied) do
    if is_set(name) and (set[name] == nil or set[name][0] ~= first(name) or set[name][1] ~= nil) then
      return refuse(txn, 503, { ["retry-after"] = { "1" } }, "")
    end
  end
  txn:set_var("txn.postern_decided", true)
end)
