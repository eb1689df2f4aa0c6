# shellcheck shell=bash
# GET, PUT, a batch of one PUT and a query by range of this build, against the executables that BUILDS names
# shellcheck disable=SC2016 # $p is a parameter of the query
read -ra others <<<"${BUILDS:-}"
((${#others[@]} > 0)) || say "builds: BUILDS names no executable to compare with; this build runs alone"
builds=("$ROOKERY" "${others[@]}")
pids=() first=0
"$TOOL" small 100000 "$WORK/builds"
# Each query finds about five documents.
for ((number = 0; number < 500; number++)); do
  printf '{"Query":"from Users where score between $p and $q","QueryParameters":{"p":0.%03d,"q":0.%03d05}}\n' \
    "$number" "$number"
done >"$WORK/builds.bodies"

for number in "${!builds[@]}"; do
  ROOKERY=${builds[number]} PORT=$((PORT + 10 + number)) start_rookery "$WORK/build$number" --memory 1G
  pids[number]=$ROOKERY_PID
  PORT=$((PORT + 10 + number)) create_database bench
  PORT=$((PORT + 10 + number)) bulk_load bench "$WORK/builds/bulk.json" >/dev/null
  PORT=$((PORT + 10 + number)) first_answer bench "from Users where score between 0.1 and 0.10005" >/dev/null
  settle "$ROOKERY_PID"
done

build_round() { # TITLE SCRIPT CONNECTIONS: runs each build in turn; each round begins with another build
  local turn number url before rates=() costs=()
  for turn in "${!builds[@]}"; do
    number=$(((turn + round) % ${#builds[@]}))
    url=http://127.0.0.1:$((PORT + 10 + number))
    before=$(cpu_seconds "${pids[number]}")
    rates[number]=$(wrk_rate "$2" "$3" "$SECONDS_PER_RUN" "$url")
    costs[number]=$(awk -v a="$before" -v b="$(cpu_seconds "${pids[number]}")" -v r="${rates[number]}" -v s="$SECONDS_PER_RUN" \
      'BEGIN { printf "%.1f", (b - a) * 1e6 / (r * s) }')
  done
  for number in "${!builds[@]}"; do
    row builds "$1, round $round" "${builds[number]} requests/s" "${rates[number]}"
    row builds "$1, round $round" "${builds[number]} CPU µs a request" "${costs[number]}"
    row builds "$1, round $round" "this build / ${builds[number]}" "$(ratio "${rates[0]}" "${rates[number]}")"
  done
}

for round in $(seq "$ROUNDS"); do
  BENCH_COUNT=100000 BENCH_PATH="/databases/bench/docs?id=d/" build_round "GET, 64 connections" get.lua 64
  first=$((first + 10000000))
  BENCH_COUNT=0 BENCH_FIRST=$first BENCH_PATH="/databases/bench/docs?id=p/" build_round "PUT, 64 connections" put.lua 64
  first=$((first + 10000000))
  BENCH_FIRST=$first BENCH_PATH=/databases/bench/bulk_docs build_round "bulk_docs, 64 connections" batch.lua 64
  BENCH_QUERIES=$WORK/builds.bodies BENCH_PATH=/databases/bench/queries build_round "query, 16 connections" query.lua 16
done
