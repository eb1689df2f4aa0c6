# shellcheck shell=bash
# storage engines in process, one thread: puts with one sync for each or for 64, gets, and device bytes per byte of documents, against RocksDB and LMDB
peers_tool
for batch in 1 64; do
  for round in $(seq "$ROUNDS"); do
    for subject in rookery rocksdb lmdb; do
      card_insert card 8G # Its counter shows the written bytes. It is not slowed down.
      before=$(card_bytes_written card)
      "$PEERS" store "$subject" "$WORK/card/data" "$batch" "$SECONDS_PER_RUN" >"$WORK/store.txt"
      bytes=$(($(card_bytes_written card) - before))
      row store "a sync for $batch, round $round" "$subject puts/s" "$(figure puts/s "$WORK/store.txt")"
      row store "a sync for $batch, round $round" "$subject gets/s" "$(figure gets/s "$WORK/store.txt")"
      row store "a sync for $batch, round $round" "$subject device bytes per byte of documents" "$(ratio "$bytes" "$(figure document-bytes "$WORK/store.txt")")"
      card_remove card
    done
  done
done
