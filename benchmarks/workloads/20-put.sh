# shellcheck shell=bash
# durable PUT at 64 and 1 connections against PostgreSQL, Redis, a bare Kestrel and the disk's sync rate
start_rookery "$WORK/put"
create_database bench
start_bare 0
start_redis "$WORK/redis"
start_postgres "$WORK/pgput" 512
psql_run -c 'create table docs (id text primary key, doc jsonb not null)'
cat >"$WORK/insert.sql" <<'SQL'
\set number random(1, 9000000000000)
insert into docs values ('p/' || :number, '{"name":"Ada Lovelace","age":36,"city":"London","joined":"2026-11-21T10:00:00","score":0.123456,"token":"0123456789abcdef"}');
SQL

export BENCH_COUNT=0 BENCH_PATH="/databases/bench/docs?id=p/"
first=0
for connections in 64 1; do
  for round in $(seq "$ROUNDS"); do
    first=$((first + 10000000))
    export BENCH_FIRST=$first
    before=$(cpu_seconds "$ROOKERY_PID")
    rookery=$(wrk_rate put.lua "$connections" "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
    after=$(cpu_seconds "$ROOKERY_PID")
    bare=$(wrk_rate put.lua "$connections" "$SECONDS_PER_RUN" "http://127.0.0.1:$BARE_PORT")
    redis=$(redis_rate "$REDIS_PORT" set "$connections" 1 "$SECONDS_PER_RUN" 100000000)
    postgres=$(pgbench_rate "$WORK/insert.sql" "$connections" "$SECONDS_PER_RUN")
    disk=$("$TOOL" sync-rate "$WORK/sync-rate" 3)
    where="$connections connections, round $round"
    row put "$where" "rookery writes/s" "$rookery"
    row put "$where" "rookery CPU s per 1000 writes" "$(awk -v a="$before" -v b="$after" -v r="$rookery" -v s="$SECONDS_PER_RUN" 'BEGIN { printf "%.4f", (b - a) * 1000 / (r * s) }')"
    row put "$where" "PostgreSQL inserts/s" "$postgres"
    row put "$where" "Redis appendfsync always sets/s" "$redis"
    row put "$where" "bare Kestrel PUT/s" "$bare"
    row put "$where" "disk write+fdatasync/s" "$disk"
    row put "$where" "rookery / PostgreSQL" "$(ratio "$rookery" "$postgres")"
    row put "$where" "rookery / Redis" "$(ratio "$rookery" "$redis")"
    row put "$where" "rookery / bare Kestrel" "$(ratio "$rookery" "$bare")"
    row put "$where" "rookery / disk" "$(ratio "$rookery" "$disk")"
  done
done
stop_postgres "$WORK/pgput"
