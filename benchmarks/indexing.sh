# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the workloads
# Functions for the workloads of indexes: load documents into Rookery, PostgreSQL and SQLite; create, await and drop
# indexes.

export PGOPTIONS='-c client_min_messages=warning' # no notices about missing indexes and long words
QUERIES=20 # number of different queries of each kind, the same for both sides

# Loads the same documents into all three. Returns when Rookery and PostgreSQL have finished their background work.
load_documents() { # KIND DATABASE
  create_database "$2"
  bulk_load "$2" "$WORK/$1.json" >/dev/null
  psql_run -c "create table $2 (id text primary key, doc jsonb not null)" \
    -c "\\copy $2 from '$WORK/$1.tsv' with (format csv, delimiter E'\\t', quote E'\\x01')" -c "vacuum analyze $2" -c checkpoint
  settle "$ROOKERY_PID"
}
load_sqlite() { # KIND DATABASE
  sqlite3 "$WORK/$2.db" "create table docs (number integer primary key, id text, doc text)" "create temp view lines as select id, doc from docs" \
    "create temp trigger take instead of insert on lines begin insert into docs (id, doc) values (new.id, new.doc); end" \
    '.mode ascii' '.separator "\t" "\n"' begin ".import $WORK/$1.tsv lines" commit
}

settle() { # PID: waits until it uses less than 5 % of a core for two seconds, a minute at most
  local deadline=$((SECONDS + 60)) before
  while ((SECONDS < deadline)); do
    before=$(cpu_seconds "$1")
    sleep 2
    awk -v a="$before" -v b="$(cpu_seconds "$1")" 'BEGIN { exit !(b - a < 0.1) }' && return
  done
}

query() { # DATABASE BODY
  curl -sS --fail-with-body -H 'Content-Type: application/json' "http://127.0.0.1:$PORT/databases/$1/queries" -d "$2"
}

# The first query creates an automatic index and is answered by it. Because a request waits, indexing may use a whole
# core.
first_answer() { # DATABASE RQL
  query "$1" "{\"Query\":\"$2\",\"WaitForNonStaleResults\":true,\"WaitForNonStaleResultsTimeout\":3600000}"
}

drop_indexes() { # DATABASE
  local name
  curl -sf "http://127.0.0.1:$PORT/databases/$1/indexes?namesOnly=true" | jq -r '.Results[]' | while read -r name; do
    curl -sf -X DELETE "http://127.0.0.1:$PORT/databases/$1/indexes?name=$name"
  done
  # Wait until the node has closed the index; before that the next query would use it.
  wait_until 60 are_folders_gone
}
are_folders_gone() { ! compgen -G "$ROOKERY_DATA/indexes/[0-9]*/*"; }

define_indexes() { # DATABASE DEFINITIONS
  curl -sS --fail-with-body -X PUT -H 'Content-Type: application/json' "http://127.0.0.1:$PORT/databases/$1/indexes" -d "{\"Indexes\":[$2]}" >/dev/null
}
is_fresh() { # DATABASE: whether all its indexes are up to date
  curl -sf "http://127.0.0.1:$PORT/databases/$1/indexes/stats" | jq -e '.Results | length > 0 and all(.IsStale | not)'
}

# Prints the CPU time of the indexing thread. Without a waiting request and with an unknown board temperature, that
# thread sleeps three quarters of the time, so elapsed time is not a measure.
indexing_cpu_seconds() {
  local task
  for task in /proc/"$ROOKERY_PID"/task/*; do
    if [[ $(<"$task/comm") == indexing ]]; then awk '{ printf "%.2f", ($14 + $15) / 100 }' "$task/stat"; fi
  done
}

build_rows() { # WORKLOAD DATABASE SIMPLE_RQL TEXT_RQL SIMPLE_SQL TEXT_SQL FTS5_EXPRESSION
  local round rookery postgres fts5
  for round in $(seq "$ROUNDS"); do
    drop_indexes "$2"
    rookery=$(elapsed first_answer "$2" "$3")
    psql_run -c 'drop index if exists simple'
    postgres=$(elapsed psql_run -c "create index simple on $2 ($5)")
    row "$1" "round $round" "simple: rookery s" "$rookery"
    row "$1" "round $round" "simple: PostgreSQL s" "$postgres"
    row "$1" "round $round" "simple: PostgreSQL / rookery" "$(ratio "$postgres" "$rookery")"
    drop_indexes "$2"
    rookery=$(elapsed first_answer "$2" "$4")
    psql_run -c 'drop index if exists words'
    postgres=$(elapsed psql_run -c "create index words on $2 using gin (to_tsvector('simple', $6))")
    sqlite3 "$WORK/$2.db" "drop table if exists words" "create virtual table words using fts5(text, content='')"
    fts5=$(elapsed sqlite3 "$WORK/$2.db" "insert into words (rowid, text) select number, $7 from docs")
    row "$1" "round $round" "full text: rookery s" "$rookery"
    row "$1" "round $round" "full text: PostgreSQL s" "$postgres"
    row "$1" "round $round" "full text: FTS5 s" "$fts5"
    row "$1" "round $round" "full text: PostgreSQL / rookery" "$(ratio "$postgres" "$rookery")"
    row "$1" "round $round" "full text: FTS5 / rookery" "$(ratio "$fts5" "$rookery")"
  done
}

# Creates QUERIES request bodies for Rookery and statements for PostgreSQL, from a select that returns both.
make_queries() { # NAME SELECT
  psql_run -F $'\t' -c "select row_number() over (), body, statement from ($2) as made" | while IFS=$'\t' read -r number body statement; do
    echo "$body" >>"$WORK/$1.bodies"
    echo "$statement" >"$WORK/$1.$number.sql"
  done
}
# Compares the answers: the ids, or for full text only their number, because the two rank by different formulas.
check_answers() { # NAME DATABASE
  local number=0 body ours theirs
  while read -r body; do
    number=$((number + 1))
    if [[ $1 == text ]]; then
      ours=$(query "$2" "$body" | jq .TotalResults)
      theirs=$(sed -E 's/select doc (from .*) order by .*/select count(*) \1/' "$WORK/$1.$number.sql" | psql_run)
    else
      ours=$(query "$2" "$body" | jq -r '.Results[]["@metadata"]["@id"]' | sort | tr '\n' ' ')
      theirs=$(sed 's/select doc/select id/' "$WORK/$1.$number.sql" | psql_run | sort | tr '\n' ' ')
    fi
    [[ $ours == "$theirs" ]] || { say "$1, query $number: Rookery $ours, PostgreSQL $theirs"; return 1; }
  done <"$WORK/$1.bodies"
}
query_rows() { # NAME DATABASE
  local round rookery postgres scripts=() number
  check_answers "$1" "$2"
  for number in $(seq "$QUERIES"); do scripts+=(-f "$WORK/$1.$number.sql"); done
  export BENCH_QUERIES=$WORK/$1.bodies BENCH_PATH=/databases/$2/queries
  for round in $(seq "$ROUNDS"); do
    rookery=$(wrk_rate query.lua 16 "$SECONDS_PER_RUN" "http://127.0.0.1:$PORT")
    postgres=$(pgbench -n -h 127.0.0.1 -p "$POSTGRES_PORT" -U postgres -M prepared "${scripts[@]}" -c 16 -j 1 -T "$SECONDS_PER_RUN" postgres 2>/dev/null | awk '/^tps/ { print $3 }')
    row index-query "$1, round $round" "rookery requests/s" "$rookery"
    row index-query "$1, round $round" "PostgreSQL selects/s" "$postgres"
    row index-query "$1, round $round" "rookery / PostgreSQL" "$(ratio "$rookery" "$postgres")"
  done
}
body() { echo "json_build_object('Query', '$1', 'QueryParameters', json_build_object($2))"; } # SQL that builds the body of a query with parameters
