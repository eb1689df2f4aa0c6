# shellcheck shell=bash
# full text against Lucene.Net 4.8: build, bytes, memory, and the top ten of two words with both engines in process
# shellcheck disable=SC2016 # $p is a parameter of the queries
peers_tool
cities_documents "$EVERY"
names_documents "$((4 * EVERY))" # 1.1 million

# Two words that occur together in a document, of the hundred most frequent words of more than one letter, so that each
# query finds something. Stop words of the analyzers are excluded.
two_words() { # KIND FIELD
  cut -f2 "$WORK/$1.tsv" | jq -r ".$2 // empty" | tr '[:upper:]' '[:lower:]' | awk '
    BEGIN { split("a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with", out, " "); for (i in out) stop[out[i]] = 1 }
    { line[NR] = $0; for (i = 1; i <= NF; i++) if ($i ~ /^[a-z][a-z]+$/ && !($i in stop)) { if (!(($i, NR) in seen)) { seen[$i, NR]; n[$i]++ } } }
    END {
      for (r = 0; r < 100; r++) { best = ""; for (w in n) if (!(w in top) && (best == "" || n[w] > n[best])) best = w; top[best] }
      for (l = 1; l <= NR && made < 20; l++) {
        count = split(line[l], words, " "); a = ""
        for (i = 1; i <= count; i++) if (words[i] in top) { if (a == "") a = words[i]; else if (words[i] != a && !((a, words[i]) in asked)) { asked[a, words[i]]; print a " " words[i]; made++; break } }
      }
    }'
}
search_rows() { # KIND COLLECTION FIELD
  local round rookery ours lucene rql="from $2 where search($3, \$p, and) order by score() limit 10"
  two_words "$1" "$3" | jq -cR --arg rql "$rql" '{Query: $rql, QueryParameters: {p: .}}' >"$WORK/$1.words"
  start_rookery "$WORK/peers.$1" --memory 1G
  create_database "$1"
  bulk_load "$1" "$WORK/$1.json" >/dev/null
  settle "$ROOKERY_PID"
  for round in $(seq "$ROUNDS"); do
    drop_indexes "$1"
    rookery=$(elapsed first_answer "$1" "from $2 where search($3, 'nowhereatall')")
    rm -rf "$WORK/lucene.$1"
    "$PEERS" lucene-build "$WORK/$1.tsv" "$3" "$WORK/lucene.$1" >"$WORK/lucene.txt"
    lucene=$(figure s "$WORK/lucene.txt")
    row peer-search "$1, build, round $round" "rookery s" "$rookery"
    row peer-search "$1, build, round $round" "Lucene.Net s" "$lucene"
    row peer-search "$1, build, round $round" "Lucene.Net / rookery" "$(ratio "$lucene" "$rookery")"
    row peer-search "$1, build, round $round" "rookery index bytes" "$(du -sb "$ROOKERY_DATA/indexes" | cut -f1)"
    row peer-search "$1, build, round $round" "Lucene.Net bytes, with the documents" "$(figure bytes "$WORK/lucene.txt")"
    row peer-search "$1, build, round $round" "rookery peak resident MiB, whole node" "$(peak_resident_mib "$ROOKERY_PID")"
    row peer-search "$1, build, round $round" "Lucene.Net peak resident MiB" "$(figure peak-MiB "$WORK/lucene.txt")"
  done
  stop "$ROOKERY_PID"
  for round in $(seq "$ROUNDS"); do
    "$PEERS" rookery-query "$WORK/peers.$1" "$1" "$WORK/$1.words" "$SECONDS_PER_RUN" >"$WORK/ours.txt"
    "$PEERS" lucene-search "$WORK/lucene.$1" "$3" "$WORK/$1.words" "$SECONDS_PER_RUN" >"$WORK/lucene.txt"
    same_matches "$WORK/ours.txt" "$WORK/lucene.txt"
    ours=$(figure queries/s "$WORK/ours.txt") lucene=$(figure queries/s "$WORK/lucene.txt")
    row peer-search "$1, top ten, round $round" "rookery in process, searches/s" "$ours"
    row peer-search "$1, top ten, round $round" "Lucene.Net in process, searches/s" "$lucene"
    row peer-search "$1, top ten, round $round" "rookery / Lucene.Net" "$(ratio "$ours" "$lucene")"
  done
}
search_rows cities Cities name
search_rows names Packages words
