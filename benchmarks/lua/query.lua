-- POSTs of queries to BENCH_PATH, each a line of the file BENCH_QUERIES, in random order.
local path = os.getenv("BENCH_PATH")
-- Each thread has a seed of its own.
local seeded = 0
function setup(thread) seeded = seeded + 1; thread:set("seed", seeded) end
local requests = {}
function init()
  math.randomseed(seed * 7919)
  for body in io.lines(os.getenv("BENCH_QUERIES")) do
    requests[#requests + 1] = "POST " .. path .. " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
  end
end
function request() return requests[math.random(#requests)] end
