# shellcheck shell=bash
# top ten of a full-text search with two common terms, by rank, at 16 connections against PostgreSQL, after a check that both find the same number
# shellcheck disable=SC2016 # $p is a parameter of the queries
names_documents "$((4 * EVERY))" # 1.1 million
start_postgres "$WORK/pgsearch" 1024
start_rookery "$WORK/search" --memory 1G
load_documents names names
psql_run -c "create index on names using gin (to_tsvector('simple', doc->>'words'))" -c 'vacuum analyze'
first_answer names "from Packages where search(words, 'nowhereatall')" >/dev/null

# Exclude stop words, which Rookery does not index.
make_queries text "select $(body 'from Packages where search(words, $p, and) order by score() limit 10' "'p', a || ' ' || b") as body,
  format('select doc from names where to_tsvector(''simple'', doc->>''words'') @@ ''%s & %s'' order by ts_rank(to_tsvector(''simple'', doc->>''words''), ''%s & %s'') desc limit 10', a, b, a, b) as statement
  from (with common as (select word from ts_stat('select to_tsvector(''simple'', doc->>''words'') from names where id like ''%7''') where length(word) > 1 and to_tsvector('english', word) <> ''::tsvector order by ndoc desc limit 100)
    select a.word as a, b.word as b from common as a, common as b where a.word < b.word order by md5(a.word || b.word) limit $QUERIES) as pairs"
query_rows text names
stop_postgres "$WORK/pgsearch"
