-- Takes the credentials of a file in turn: wrk … URL -- HEADER FILE

local requests = {}
local turn = 0

function init(args)
  for value in io.lines(args[2]) do
    requests[#requests + 1] = wrk.format("GET", nil, { ["Host"] = wrk.host .. ":" .. wrk.port, [args[1]] = value })
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
