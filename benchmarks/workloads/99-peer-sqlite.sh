# shellcheck shell=bash
# a simple index and equality against SQLite's expression index on json_extract, with both engines in process
# shellcheck disable=SC2016 # $p is a parameter of the queries
peers_tool
cities_documents "$EVERY"
start_rookery "$WORK/peersqlite" --memory 1G
create_database cities
bulk_load cities "$WORK/cities.json" >/dev/null
settle "$ROOKERY_PID"
load_sqlite cities cities
for round in $(seq "$ROUNDS"); do
  drop_indexes cities
  rookery=$(elapsed first_answer cities "from Cities where name = 'x'")
  sqlite=$(elapsed sqlite3 "$WORK/cities.db" "drop index if exists byname" "create index byname on docs (lower(json_extract(doc, '\$.name')))")
  row peer-sqlite "round $round" "build: rookery s" "$rookery"
  row peer-sqlite "round $round" "build: SQLite s" "$sqlite"
  row peer-sqlite "round $round" "build: SQLite / rookery" "$(ratio "$sqlite" "$rookery")"
done
# SQLite ignores case only for ASCII letters, so the queries contain only ASCII.
sqlite3 "$WORK/cities.db" "select json_object('Query', 'from Cities where name = \$p', 'QueryParameters', json_object('p', name))
  from (select distinct lower(json_extract(doc, '\$.name')) as name from docs) where name not glob '*[^ -~]*' and name > '' order by substr(name, 3), name limit 20" >"$WORK/equal.bodies"
stop "$ROOKERY_PID"
for round in $(seq "$ROUNDS"); do
  "$PEERS" rookery-query "$WORK/peersqlite" cities "$WORK/equal.bodies" "$SECONDS_PER_RUN" >"$WORK/ours.txt"
  "$PEERS" sqlite-query "$WORK/cities.db" "select doc from docs where lower(json_extract(doc, '\$.name')) = \$p" "$WORK/equal.bodies" "$SECONDS_PER_RUN" >"$WORK/sqlite.txt"
  same_matches "$WORK/ours.txt" "$WORK/sqlite.txt"
  row peer-sqlite "equality, round $round" "rookery in process, queries/s" "$(figure queries/s "$WORK/ours.txt")"
  row peer-sqlite "equality, round $round" "SQLite in process, queries/s" "$(figure queries/s "$WORK/sqlite.txt")"
  row peer-sqlite "equality, round $round" "rookery / SQLite" "$(ratio "$(figure queries/s "$WORK/ours.txt")" "$(figure queries/s "$WORK/sqlite.txt")")"
done
