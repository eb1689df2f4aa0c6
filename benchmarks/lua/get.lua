-- GETs of BENCH_PATH followed by a random number below BENCH_COUNT, BENCH_PIPELINE at a time (default: one). With
-- BENCH_CHECK, reports the first status that is not 200. Builds the request text itself, because wrk.format costs more
-- than the request.
local path, count = os.getenv("BENCH_PATH"), tonumber(os.getenv("BENCH_COUNT"))
-- Each thread has a seed of its own.
local seeded = 0
function setup(thread) seeded = seeded + 1; thread:set("seed", seeded) end
function init() math.randomseed(seed * 7919) end
local pipeline = tonumber(os.getenv("BENCH_PIPELINE") or "1")
local function get()
  return "GET " .. path .. math.random(0, count - 1) .. " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
end
function request()
  if pipeline == 1 then return get() end
  local all = {}
  for i = 1, pipeline do all[i] = get() end
  return table.concat(all)
end
local bad = 0
function response(status) if status ~= 200 then bad = bad + 1; if bad == 1 then io.stderr:write("status ", status, "\n") end end end
if os.getenv("BENCH_CHECK") == nil then response = nil end
