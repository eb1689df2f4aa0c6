# shellcheck shell=bash
# bytes written to the device while an index is built, per byte of the documents, and memory with --memory 128M
iconify_documents "$EVERY"
names_documents "$EVERY"

# The indexes have their own device, so that its counter shows the bytes that they write.
start_rookery "$WORK/written" --memory 128M
for kind in iconify names; do
  create_database "$kind"
  bulk_load "$kind" "$WORK/$kind.json" >/dev/null
done
settle "$ROOKERY_PID"
stop "$ROOKERY_PID"
card_insert card 4G
rm -rf "$WORK/written/indexes"
ln -s "$WORK/card" "$WORK/written/indexes"

built() { # SUBJECT DATABASE RQL: builds an index, prints its rows, and drops it
  local before bytes sampler
  start_rookery "$WORK/written" --memory 128M
  rm -f "$WORK/built"
  ( while [[ ! -e $WORK/built ]]; do resident_mib "$ROOKERY_PID"; echo; sleep 0.2; done ) >"$WORK/resident.txt" &
  sampler=$!
  before=$(card_bytes_written card)
  elapsed first_answer "$2" "$3" >"$WORK/seconds"
  row index-card "$1" "rookery s" "$(<"$WORK/seconds")"
  bytes=$(($(card_bytes_written card) - before))
  : >"$WORK/built"
  wait "$sampler" || true
  row index-card "$1" "device bytes per byte of documents" "$(ratio "$bytes" "$(cut -f2 "$WORK/$2.tsv" | wc -c)")"
  row index-card "$1" "highest resident MiB" "$(sort -n "$WORK/resident.txt" | tail -1)"
  row index-card "$1" "peak resident MiB (kernel)" "$(peak_resident_mib "$ROOKERY_PID")"
  drop_indexes "$2"
  stop "$ROOKERY_PID"
}
built "icons, simple" iconify "from Icons where name = 'x'"
built "icons, full text" iconify "from Icons where search(body, 'nowhere')"
built "names, simple" names "from Packages where name = 'x'"
built "names, full text" names "from Packages where search(words, 'nowhereatall')"
card_remove card
