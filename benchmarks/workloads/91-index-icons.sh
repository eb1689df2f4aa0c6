# shellcheck shell=bash
# first build of a simple and a full-text index of the icons of @iconify/json, by name, and by the words and numbers of their drawings
iconify_documents "$((4 * EVERY))" # 98,000: PostgreSQL takes minutes for all
start_postgres "$WORK/pgicons" 1024
start_rookery "$WORK/icons" --memory 1G
load_documents iconify icons
load_sqlite iconify icons
# Remove tags from the text, because PostgreSQL ignores them.
build_rows index-icons icons "from Icons where name = 'x'" "from Icons where search(body, 'nowhere')" "lower(doc->>'name')" "translate(doc->>'body', '<>/=\"', '     ')" "doc->>'\$.body'"
stop_postgres "$WORK/pgicons"
