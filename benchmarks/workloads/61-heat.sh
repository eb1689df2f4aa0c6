# shellcheck shell=bash
# heat: instructions of the node, counted in qemu-user, for a GET, PUT, query, indexed document, command of Redis and idle second; also of the executables that BUILDS names
# shellcheck disable=SC2016 # $p is a parameter of the query
read -ra builds <<<"$ROOKERY ${BUILDS:-}"
"$TOOL" small 20000 "$WORK/heat"
gcc -O2 -shared -fPIC -o "$WORK/instructions.so" "$ROOT/image/tests/instructions.c"
for ((number = 0; number < 500; number++)); do
  printf '{"Query":"from Users where score between $p and $q","QueryParameters":{"p":0.%03d,"q":0.%03d3}}\n' "$number" "$number"
done >"$WORK/heat.bodies"
instructions() { od -An -v -t u8 -w64 "$WORK/heat.counts" | awk '{ sum += $1 } END { printf "%.0f", sum }'; }
heat_row() { # WHAT INSTRUCTIONS_BEFORE NUMBER
  row heat "$build" "$1" "$(awk -v a="$2" -v b="$(instructions)" -v n="$3" 'BEGIN { printf "%.0f", (b - a) / n }')"
}
heat_of_requests() { # WHAT SCRIPT CONNECTIONS
  local before; before=$(instructions)
  heat_row "instructions a $1" "$before" "$(wrk_rate "$2" "$3" "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT" | awk -v s="$SECONDS_PER_RUN" '{ print $1 * s }')"
}
heat_of_redis() { # WHAT set|get CONNECTIONS PIPELINE NUMBER
  local before; before=$(instructions)
  redis-benchmark -p "$DOOR_PORT" -t "$2" -c "$3" -P "$4" -n "$5" -d 150 -r 20000 --csv >/dev/null 2>&1
  heat_row "instructions a $1" "$before" "$5"
}
for build in "${builds[@]}"; do
  printf '#!/bin/sh\nexec qemu-%s -cpu max -plugin %s,counts=%s %s "$@"\n' "$(uname -m)" "$WORK/instructions.so" "$WORK/heat.counts" "$build" >"$WORK/counted"
  chmod +x "$WORK/counted"
  rm -rf "$WORK/heat.data"
  ROOKERY=$WORK/counted start_rookery "$WORK/heat.data" --memory 256M --redis "$DOOR_PORT"
  create_database bench
  bulk_load bench "$WORK/heat/bulk.json" >/dev/null
  export BENCH_COUNT=20000 BENCH_FIRST=0 BENCH_PATH="/databases/bench/docs?id=d/"
  heat_of_requests "GET" get.lua 16
  BENCH_PIPELINE=16 heat_of_requests "GET in a pipeline of 16" get.lua 16
  BENCH_COUNT=0 BENCH_FIRST=30000000 heat_of_requests "PUT" put.lua 16
  heat_of_redis "Redis SET in a pipeline of 30" set 16 30 120000
  heat_of_redis "Redis GET in a pipeline of 30" get 16 30 240000
  heat_of_redis "Redis SET" set 16 1 20000
  heat_of_redis "Redis GET" get 16 1 40000
  settle "$ROOKERY_PID"
  documents=$(curl -sf "http://127.0.0.1:$PORT/databases/bench/stats" | jq .CountOfDocuments)
  before=$(instructions)
  first_answer bench "from Users where score between 0.1 and 0.10005" >/dev/null
  heat_row "instructions an indexed document" "$before" "$documents"
  settle "$ROOKERY_PID"
  BENCH_QUERIES=$WORK/heat.bodies BENCH_PATH=/databases/bench/queries heat_of_requests "query by range" query.lua 16
  sleep 20
  before=$(instructions)
  sleep 30
  heat_row "instructions an idle second" "$before" 30
  stop "$ROOKERY_PID"
done
