# shellcheck shell=bash
# map/reduce (count and sum by key): first build and 1,000 edits, against PostgreSQL's GROUP BY over all documents and a rebuild
iconify_documents "$EVERY"
cities_documents "$EVERY"
start_postgres "$WORK/pgreduce" 1024
start_rookery "$WORK/reduce" --memory 1G
load_documents iconify icons
load_documents cities cities

# Waits until the index is up to date. Prints the elapsed seconds and the CPU time of the indexing thread.
reduced() { # DATABASE COMMAND...
  local database=$1 cpu from; shift
  cpu=$(indexing_cpu_seconds) from=$EPOCHREALTIME
  "$@" >/dev/null
  wait_until 600 is_fresh "$database"
  awk -v a="$from" -v b="$EPOCHREALTIME" -v c="$cpu" -v d="$(indexing_cpu_seconds)" 'BEGIN { printf "%.2f %.2f\n", b - a, d - c }'
}
reduce_rows() { # DATABASE COLLECTION KEY NUMBER
  local sum="(n, v) => n + v.total, 0" definition sql round clock cpu edits_clock edits_cpu postgres
  definition="{\"Name\":\"Sums\",\"Maps\":[\"map('$2', d => ({ key: d.$3, count: 1, total: d.$4 || 0 }))\"],\"Reduce\":\"groupBy(r => r.key).aggregate(g => ({ key: g.key, count: g.values.reduce((n, v) => n + v.count, 0), total: g.values.reduce($sum) }))\"}"
  sql="select doc->>'$3', count(*), sum(coalesce((doc->>'$4')::numeric, 0)) from $1 group by 1"
  for round in $(seq "$ROUNDS"); do
    drop_indexes "$1"
    read -r clock cpu < <(reduced "$1" define_indexes "$1" "$definition")
    postgres=$(elapsed psql_run -c "$sql")
    # The counts in the index must equal PostgreSQL's.
    diff <(curl -sf "http://127.0.0.1:$PORT/databases/$1/indexes/terms?name=Sums&field=count&pageSize=1024" | jq -r '.Terms[]' | sort -n) \
      <(psql_run -c "select distinct count(*) from $1 group by doc->>'$3' order by 1") >&2
    # Changes a number in each of 1,000 documents.
    psql_run -c "select json_agg(json_build_object('Id', id, 'Type', 'PUT', 'Document', jsonb_set(doc, '{$4}', to_jsonb($round + length(id))))) from (select * from $1 order by md5(id) limit 1000) as edited" >"$WORK/edits.json"
    read -r edits_clock edits_cpu < <(reduced "$1" bulk_load "$1" "$WORK/edits.json")
    row index-reduce "$1, round $round" "rookery first build, s of CPU" "$cpu"
    row index-reduce "$1, round $round" "rookery first build, s on the clock" "$clock"
    row index-reduce "$1, round $round" "PostgreSQL GROUP BY, s" "$postgres"
    row index-reduce "$1, round $round" "PostgreSQL / rookery CPU" "$(ratio "$postgres" "$cpu")"
    row index-reduce "$1, round $round" "rookery 1,000 edits, s of CPU" "$edits_cpu"
    row index-reduce "$1, round $round" "rookery 1,000 edits, s on the clock" "$edits_clock"
    row index-reduce "$1, round $round" "first build / 1,000 edits, CPU" "$(ratio "$cpu" "$edits_cpu")"
    row index-reduce "$1, round $round" "1,000 x GROUP BY / 1,000 edits" "$(awk -v a="$postgres" -v b="$edits_cpu" 'BEGIN { printf "%.0f", (b > 0 ? 1000 * a / b : 0) }')"
  done
  # Dropped here, so that the next database does not wait until this index's folder is deleted.
  drop_indexes "$1"
}
reduce_rows icons Icons prefix height
reduce_rows cities Cities country lat
stop_postgres "$WORK/pgreduce"
