# shellcheck shell=bash
# equality, range and order by at 16 connections against PostgreSQL, after a check that the answers agree
# shellcheck disable=SC2016 # $p is a parameter of the queries
cities_documents "$EVERY"
start_postgres "$WORK/pgquery" 1024
start_rookery "$WORK/query" --memory 1G
load_documents cities cities
psql_run -c "create index on cities (lower(doc->>'name'))" -c "create index on cities (((doc->>'lat')::numeric))" -c "create index on cities ((doc->>'country'), (lower(doc->>'name')))" -c 'vacuum analyze'
first_answer cities "from Cities where name = 'x' and lat > 1 and country = 'x' order by name" >/dev/null

make_queries equality "select $(body 'from Cities where name = $p' "'p', name") as body, format('select doc from cities where lower(doc->>''name'') = %L', name) as statement
  from (select distinct lower(doc->>'name') as name from cities order by 1) as names order by md5(name) limit $QUERIES"
make_queries range "select $(body 'from Cities where lat between $p and $q' "'p', lat, 'q', lat + 0.01") as body,
  format('select doc from cities where (doc->>''lat'')::numeric between %s and %s', lat, lat + 0.01) as statement
  from (select (doc->>'lat')::numeric as lat from cities order by md5(id) limit $QUERIES) as latitudes"
make_queries order "select $(body 'from Cities where country = $p order by name limit 10' "'p', country") as body,
  format('select doc from cities where doc->>''country'' = %L order by lower(doc->>''name'') limit 10', country) as statement
  from (select doc->>'country' as country from cities order by md5(id) limit $QUERIES) as countries"
query_rows equality cities
query_rows range cities
query_rows order cities
stop_postgres "$WORK/pgquery"
