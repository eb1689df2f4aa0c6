# shellcheck shell=bash
# GET of a 150 B document by random id against a bare Kestrel and a prepared PostgreSQL select
"$TOOL" small "$DOCUMENTS" "$WORK/small"
start_rookery "$WORK/get"
create_database bench
bulk_load bench "$WORK/small/bulk.json"
answer_bytes=$(curl -s "http://127.0.0.1:$PORT/databases/bench/docs?id=d/77" | wc -c)
start_bare "$answer_bytes"

start_postgres "$WORK/pg" 2048
psql_run -c 'create table docs (id text primary key, doc jsonb not null)' -c "\\copy docs from '$WORK/small/copy.tsv'" -c 'vacuum analyze docs'
cat >"$WORK/select.sql" <<SQL
\\set number random(0, $((DOCUMENTS - 1)))
select doc from docs where id = 'd/' || :number;
SQL

export BENCH_COUNT=$DOCUMENTS BENCH_PATH="/databases/bench/docs?id=d/"
for round in $(seq "$ROUNDS"); do
  rookery=$(wrk_rate get.lua 128 "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
  bare=$(wrk_rate get.lua 128 "$SECONDS_PER_RUN" "http://127.0.0.1:$BARE_PORT")
  postgres=$(pgbench_rate "$WORK/select.sql" 128 "$SECONDS_PER_RUN")
  row get "round $round" "rookery requests/s" "$rookery"
  row get "round $round" "bare Kestrel requests/s" "$bare"
  row get "round $round" "PostgreSQL selects/s" "$postgres"
  row get "round $round" "rookery / bare Kestrel" "$(ratio "$rookery" "$bare")"
  row get "round $round" "rookery / PostgreSQL" "$(ratio "$rookery" "$postgres")"
done
stop_postgres "$WORK/pg"
