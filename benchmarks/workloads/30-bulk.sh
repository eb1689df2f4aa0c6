# shellcheck shell=bash
# bulk insert of small documents, client included, against PostgreSQL COPY into jsonb with a primary key
"$TOOL" small "$DOCUMENTS" "$WORK/small"
start_postgres "$WORK/pgbulk" 1024
start_rookery "$WORK/bulk"
for round in $(seq "$ROUNDS"); do
  create_database "bulk$round"
  rookery=$(elapsed bulk_load "bulk$round" "$WORK/small/bulk.json")
  psql_run -c 'drop table if exists docs' -c 'create table docs (id text primary key, doc jsonb not null)'
  postgres=$(elapsed psql_run -c "\\copy docs from '$WORK/small/copy.tsv'")
  row bulk "round $round" "rookery documents/s" "$(ratio "$DOCUMENTS" "$rookery")"
  row bulk "round $round" "PostgreSQL COPY rows/s" "$(ratio "$DOCUMENTS" "$postgres")"
  row bulk "round $round" "rookery / PostgreSQL" "$(ratio "$postgres" "$rookery")"
done
stop_postgres "$WORK/pgbulk"
