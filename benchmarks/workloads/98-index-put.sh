# shellcheck shell=bash
# durable PUT at 64 connections with two indexes, against a database without indexes
start_rookery "$WORK/indexput" --memory 1G
create_database without
create_database with
define_indexes with "{\"Name\":\"ByName\",\"Maps\":[\"map('Users', d => ({ name: d.name }))\"]},{\"Name\":\"ByAge\",\"Maps\":[\"map('Users', d => ({ age: d.age, city: d.city }))\"]}"
first=0
for round in $(seq "$ROUNDS"); do
  first=$((first + 10000000))
  export BENCH_FIRST=$first BENCH_PATH="/databases/without/docs?id=p/"
  without=$(wrk_rate put-varied.lua 64 "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
  settle "$ROOKERY_PID"
  BENCH_PATH="/databases/with/docs?id=p/"
  with=$(wrk_rate put-varied.lua 64 "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
  from=$EPOCHREALTIME
  wait_until 600 is_fresh with
  row index-put "round $round" "rookery writes/s, no index" "$without"
  row index-put "round $round" "rookery writes/s, two indexes" "$with"
  row index-put "round $round" "with / without" "$(ratio "$with" "$without")"
  row index-put "round $round" "s until the indexes follow, after the last write" "$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')"
  settle "$ROOKERY_PID"
done
