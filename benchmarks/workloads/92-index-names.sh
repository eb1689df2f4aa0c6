# shellcheck shell=bash
# first build of a simple and a full-text index of the names of npm's packages, 4.5 million short documents
names_documents "$EVERY"
start_postgres "$WORK/pgnames" 1024
start_rookery "$WORK/names" --memory 1G
load_documents names names
load_sqlite names names
build_rows index-names names "from Packages where name = 'x'" "from Packages where search(words, 'nowhereatall')" "lower(doc->>'name')" "doc->>'words'" "doc->>'\$.words'"
stop_postgres "$WORK/pgnames"
