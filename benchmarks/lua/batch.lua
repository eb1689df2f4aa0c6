-- POSTs of bulk_docs, each with one PUT, to BENCH_PATH; ids count from BENCH_FIRST + 1.
local path = os.getenv("BENCH_PATH")
local number = tonumber(os.getenv("BENCH_FIRST"))
function request()
  number = number + 1
  local body = '{"Commands":[{"Id":"b/' .. number .. '","ChangeVector":null,"Document":{"name":"Ada","age":' .. number ..
    ',"@metadata":{"@collection":"Batched"}},"Type":"PUT"}]}'
  return "POST " .. path .. " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end
