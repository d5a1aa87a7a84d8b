-- Takes the credentials of a file in turn: wrk … URL -- HEADER FILE [NAME VALUE]…; each request has the other headers, too.

local requests = {}
local turn = 0

function init(args)
  local headers = { ["Host"] = wrk.host .. ":" .. wrk.port }
  for i = 3, #args, 2 do headers[args[i]] = args[i + 1] end
  for value in io.lines(args[2]) do
    headers[args[1]] = value
    requests[#requests + 1] = wrk.format("GET", nil, headers)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"status":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect, errors.read, errors.write, errors.timeout))
end
