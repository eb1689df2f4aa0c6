# shellcheck shell=bash
# random GET and random updates with data of four times the memory, with the same limit for the peer
limit=$((256 << 20))
cold_documents=$((DOCUMENTS * 6))
"$TOOL" small "$cold_documents" "$WORK/large"
in_memory_group rookery-bench-a "$limit"
start_rookery "$WORK/cold" --memory 128M
create_database bench
# Inserts first, to compare the rate of updates with theirs, under the same limit.
export BENCH_COUNT=0 BENCH_PATH="/databases/bench/docs?id=n/" BENCH_FIRST=0
bulk_load bench "$WORK/large/bulk.json"
insert=$(wrk_rate put.lua 64 "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
row cold "insert" "rookery writes/s" "$insert"
row cold "data" "rookery MiB on disk" "$(du -sm "$WORK/cold" | cut -f1)"
export BENCH_COUNT=$cold_documents BENCH_PATH="/databases/bench/docs?id=d/"
update=$(wrk_rate put.lua 64 "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
row cold "update" "rookery writes/s" "$update"
row cold "update" "update / insert" "$(ratio "$update" "$insert")"

in_memory_group rookery-bench-b "$limit"
start_postgres "$WORK/pgcold" 64
psql_run -c 'create table docs (id text primary key, doc jsonb not null)' -c "\\copy docs from '$WORK/large/copy.tsv'" -c 'vacuum analyze docs' -c checkpoint
row cold "data" "PostgreSQL MiB on disk" "$(du -sm "$WORK/pgcold/base" | cut -f1)"
cat >"$WORK/cold.sql" <<SQL
\\set number random(0, $((cold_documents - 1)))
select doc from docs where id = 'd/' || :number;
SQL
for round in $(seq "$ROUNDS"); do
  rookery=$(wrk_rate get.lua 64 "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
  postgres=$(pgbench_rate "$WORK/cold.sql" 64 "$SECONDS_PER_RUN")
  row cold "GET round $round" "rookery requests/s" "$rookery"
  row cold "GET round $round" "PostgreSQL selects/s" "$postgres"
  row cold "GET round $round" "rookery / PostgreSQL" "$(ratio "$rookery" "$postgres")"
done
row cold "rookery" "peak resident MiB" "$(peak_resident_mib "$ROOKERY_PID")"
stop_postgres "$WORK/pgcold"
rm -rf "$WORK/large"
