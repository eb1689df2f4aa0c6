# shellcheck shell=bash
# GET of a 150 B document by random id, also pipelined, against `dotnet new web`, a bare Kestrel and PostgreSQL
"$TOOL" small "$DOCUMENTS" "$WORK/small"
start_rookery "$WORK/get"
create_database bench
bulk_load bench "$WORK/small/bulk.json"
answer_bytes=$(curl -s "http://127.0.0.1:$PORT/databases/bench/docs?id=d/77" | wc -c)
start_bare "$answer_bytes"
start_web "$answer_bytes"

start_postgres "$WORK/pg" 2048
psql_run -c 'create table docs (id text primary key, doc jsonb not null)' -c "\\copy docs from '$WORK/small/copy.tsv'" -c 'vacuum analyze docs'
cat >"$WORK/select.sql" <<SQL
\\set number random(0, $((DOCUMENTS - 1)))
select doc from docs where id = 'd/' || :number;
SQL

export BENCH_COUNT=$DOCUMENTS BENCH_PATH="/databases/bench/docs?id=d/"
for round in $(seq "$ROUNDS"); do
  for connections in 16 64 128; do
    where="$connections connections, round $round"
    rookery=$(wrk_rate get.lua "$connections" "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
    web=$(wrk_rate get.lua "$connections" "$SECONDS_PER_RUN" "http://127.0.0.1:$WEB_PORT")
    row get "$where" "rookery requests/s" "$rookery"
    row get "$where" "dotnet new web requests/s" "$web"
    row get "$where" "rookery / dotnet new web" "$(ratio "$rookery" "$web")"
  done
  bare=$(wrk_rate get.lua 128 "$SECONDS_PER_RUN" "http://127.0.0.1:$BARE_PORT")
  postgres=$(pgbench_rate "$WORK/select.sql" 128 "$SECONDS_PER_RUN")
  row get "$where" "bare Kestrel requests/s" "$bare"
  row get "$where" "PostgreSQL selects/s" "$postgres"
  row get "$where" "rookery / bare Kestrel" "$(ratio "$rookery" "$bare")"
  row get "$where" "rookery / PostgreSQL" "$(ratio "$rookery" "$postgres")"
  pipelined=$(BENCH_PIPELINE=16 wrk_rate get.lua 128 "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
  row get "$where" "rookery requests/s, pipelines of 16" "$pipelined"
  row get "$where" "pipelines of 16 / one at a time" "$(ratio "$pipelined" "$rookery")"
done
stop_postgres "$WORK/pg"
