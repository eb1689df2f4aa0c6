using System.Runtime.InteropServices;
using Rookery.Platform;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Postings;
using Rookery.Search.Segments.Reading;

namespace Rookery.Queries.Execution;

/// <summary>
/// Finds a page whose order is decided by ranks, which are ordinals of terms. Reads values only of entries that may be
/// on the page. Not thread-safe.
/// </summary>
/// <param name="segments">The segments of the index.</param>
/// <param name="compiled">The compiled query.</param>
/// <param name="work">The answer's limits.</param>
/// <param name="needsTotal">Whether results after the page are counted.</param>
/// <param name="walk">Decides how the page is found.</param>
/// <param name="heap">The page so far.</param>
/// <param name="sortKey">Buffer for a sort key.</param>
internal sealed class RankedPage(
    SearchedSegments segments,
    CompiledQuery compiled,
    AnswerWork work,
    bool needsTotal,
    OrderWalk walk,
    HitHeap heap,
    PooledBytes sortKey
)
{
    // The number and the rank of an entry; and if other entries have the same rank, its etag and its number again.
    private const int SortBytesPerEntry = sizeof(int) + sizeof(long) + 16;

    // Sorting an entry takes about as long as reading this many postings, so limits are checked every 1,024 entries.
    private const int EntriesPerSortStep = 256;

    /// <summary>Adds the first entries of a segment to the page.</summary>
    /// <returns>False if documents must be evaluated.</returns>
    public bool TryCollect(int segment, EntryCursor candidates, SegmentSort sort, OpenedPostings opened)
    {
        long bytes = RankedEntries.EntryBytes * Math.Min(compiled.PageEnd, segments[segment].Reader.Entries);
        work.Memory.Reserve(bytes);
        if (Gather(segment, candidates, sort, opened) is not { } first)
        {
            return false;
        }

        foreach (var ranked in first.InOrder())
        {
            if (sort.NeedsDocument || !sort.TryRead(ranked, sortKey))
            {
                return false;
            }

            var entry = segments.ToFoundEntry(segment, ranked.Entry);
            var hit = new ScanHit
            {
                SortKey = ranked.SortKey!,
                Ordinal = entry.Etag,
                Etag = entry.Etag,
                Id = [],
                Entry = entry,
            };
            if (!heap.WouldKeep(hit.SortKey, hit.Etag))
            {
                break;
            }

            heap.Keep(hit, work.Memory);
        }

        sort.ReleaseAllKeys();
        work.Memory.Release(bytes);
        return true;
    }

    /// <summary>
    /// Returns the page of an index with one segment. Values are read only where ranks are equal. Returns null if
    /// documents must be evaluated.
    /// </summary>
    public FoundEntry[]? TryFindPage(EntryCursor candidates, SegmentSort sort, OpenedPostings opened)
    {
        work.Memory.Reserve(RankedEntries.EntryBytes * Math.Min(compiled.PageEnd, segments[0].Reader.Entries));
        if (Gather(segment: 0, candidates, sort, opened) is not { } first)
        {
            return null;
        }

        var ranked = first.InOrder();
        return sort.NeedsDocument
            ? null
            : Array.ConvertAll(ranked, one => segments.ToFoundEntry(segment: 0, one.Entry));
    }

    /// <summary>Returns the first candidates of a segment by rank; null if documents must be evaluated.</summary>
    private RankedEntries? Gather(int segment, EntryCursor candidates, SegmentSort sort, OpenedPostings opened)
    {
        var first = new RankedEntries(compiled.Sort, sort, segments.Documents[segment], (int)compiled.PageEnd, sortKey);
        if (TryReadSorted(segment, candidates, sort, first))
        {
            return first;
        }

        if (TryWalkInOrder(segment, ref candidates, sort, opened, first))
        {
            walk.OnPageFound(segments[segment].Live.DeadCount);
            return first;
        }

        sort.ReleaseAllKeys();
        first = new RankedEntries(compiled.Sort, sort, segments.Documents[segment], (int)compiled.PageEnd, sortKey);
        var cursor = segments.LiveOf(segment, candidates);
        for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
        {
            segments.CountResult();
            long rank = sort.Rank(column: 0, entry);
            if (
                first.MayKeep(rank)
                && !(heap.Last is { } last && sort.ComesAfter(entry, last.SortKey, out _))
                && !first.TryAdd(entry, rank)
            )
            {
                return null;
            }
        }

        return first;
    }

    /// <summary>
    /// Collects the first entries from the term's sorted entries, if the matches are those of one term.
    /// </summary>
    /// <returns>False if the page was not found. The candidates are then not read yet.</returns>
    private bool TryReadSorted(int segment, EntryCursor candidates, SegmentSort sort, RankedEntries first)
    {
        var (reader, live) = segments[segment];
        if (
            sort.RankSource is not { } order
            || candidates is not PostingsCursor { TestedTerm: { } term } postings
            || !walk.IsWorthSorting(postings.Count)
        )
        {
            return false;
        }

        var key = new SortedEntriesKey(term.Field, term.Ordinal, order.Field, order.Order);
        if (!reader.Sorted.TryFind(key, out var entries, out bool shouldSort))
        {
            // The memory is reserved before it is allocated. If too little is free, all matches are read instead, which
            // needs less.
            long bytes = postings.Count * SortBytesPerEntry;
            if (!shouldSort || !work.Memory.TryReserve(bytes))
            {
                return false;
            }

            byte[] sorted = SortByRank(segment, postings, sort);
            reader.Sorted.Keep(key, sorted);
            entries = MemoryMarshal.Cast<byte, int>(sorted);
            work.Memory.Release(bytes);
        }

        long seen = 0;
        for (int i = 0; i < entries.Length && !first.IsFull; i++)
        {
            work.Step(1);
            if (live.IsLive(entries[i]))
            {
                seen++;
                first.TryAdd(entries[i], sort.Rank(column: 0, entries[i]));
            }
        }

        segments.Total += needsTotal ? CountLive(postings, entries, live) : seen;
        walk.OnSortedFound();
        return true;
    }

    /// <summary>Returns all entries of a term, as <see cref="RankedEntries.Compare"/> orders them.</summary>
    private byte[] SortByRank(int segment, PostingsCursor postings, SegmentSort sort)
    {
        bool isDescending = compiled.Sort.Keys[0].IsDescending;
        byte[] bytes = new byte[(int)postings.Count * sizeof(int)];
        var entries = MemoryMarshal.Cast<byte, int>(bytes.AsSpan());
        long[] ranks = new long[entries.Length];
        for (int i = 0; i < ranks.Length; i++)
        {
            work.Step(EntriesPerSortStep);
            entries[i] = postings.MoveNext();
            long rank = sort.Rank(column: 0, entries[i]);
            ranks[i] = isDescending ? -rank : rank;
        }

        ranks.AsSpan().Sort(entries);
        for (int from = 0; from < ranks.Length; )
        {
            int to = from + 1;
            while (to < ranks.Length && ranks[to] == ranks[from])
            {
                to++;
            }

            SortByEtag(segment, entries[from..to]);
            from = to;
        }

        return bytes;
    }

    // Etags are read only for entries of equal rank, because each read decodes part of a block of the document table.
    private void SortByEtag(int segment, Span<int> entries)
    {
        if (entries.Length < 2)
        {
            return;
        }

        entries.Sort(); // the table is read fastest in the order of entries
        var etags = new (long Etag, int Entry)[entries.Length];
        for (int i = 0; i < etags.Length; i++)
        {
            work.Step(EntriesPerSortStep);
            segments.Documents[segment].Read(entries[i], out long etag);
            etags[i] = (etag, entries[i]);
        }

        etags.AsSpan().Sort(entries);
    }

    private int CountLive(PostingsCursor postings, ReadOnlySpan<int> entries, LiveEntries live)
    {
        if (live.DeadCount <= entries.Length)
        {
            work.Step(live.DeadCount);
            return entries.Length - (live.DeadCount == 0 ? 0 : live.Dead().Count(postings.Contains));
        }

        int count = 0;
        foreach (int entry in entries)
        {
            count += live.IsLive(entry) ? 1 : 0;
        }

        return count;
    }

    /// <summary>
    /// Collects the first entries by walking the terms of the order and testing whether each entry is a candidate, if
    /// there are so many matches that this is faster than reading all of them. Gives up after as much work as reading
    /// all matches takes, because the candidates then come late in the order. If the cursor cannot test an entry,
    /// replaces <paramref name="candidates"/> by a set of the same entries.
    /// </summary>
    /// <returns>False if the page was not found, so that all candidates must be read.</returns>
    private bool TryWalkInOrder(
        int segment,
        ref EntryCursor candidates,
        SegmentSort sort,
        OpenedPostings opened,
        RankedEntries first
    )
    {
        var (reader, live) = segments[segment];
        if (!walk.IsWorthwhile(compiled.PageEnd, reader.Entries, candidates) || sort.InOrder(opened) is not { } terms)
        {
            return false;
        }

        if (!candidates.CanTest)
        {
            var union = new EntryUnion(reader.Entries, work);
            union.Add(candidates);
            candidates = union.ToCursor();
            if (!walk.IsWorthwhile(compiled.PageEnd, reader.Entries, candidates))
            {
                return false;
            }
        }

        long stepsLeft = walk.MaxSteps(candidates);
        long matchesSeen = 0;
        bool isAfterLast = false;
        foreach (long rank in terms.ReadRanks())
        {
            work.Step(1 + terms.Entries.Count);
            if (first.IsFull && !first.MayKeep(rank))
            {
                break;
            }

            if (rank == 0 && terms.OmitsEntries)
            {
                return false; // some entries without a value are missing from the walk
            }

            for (int entry = terms.Entries.MoveNext(); entry != EntryCursor.End; entry = terms.Entries.MoveNext())
            {
                if (--stepsLeft < 0)
                {
                    return false;
                }

                if (!candidates.Contains(entry) || !live.IsLive(entry))
                {
                    continue;
                }

                matchesSeen++;
                isAfterLast = heap.Last is { } last && sort.ComesAfter(entry, last.SortKey, out _);
                if (isAfterLast)
                {
                    break; // all further entries are after the last wanted one, too
                }

                if (!first.TryAdd(entry, rank))
                {
                    return false;
                }
            }

            if (isAfterLast)
            {
                break;
            }
        }

        if (terms.OmitsEntries && !first.IsFull && !isAfterLast)
        {
            return false;
        }

        segments.Total += needsTotal ? CountLive(segment, candidates) : matchesSeen;
        return true;
    }

    private long CountLive(int segment, EntryCursor candidates)
    {
        var live = segments[segment].Live;
        work.Step(live.DeadCount);
        if (live.DeadCount > candidates.Cost)
        {
            return segments.LiveOf(segment, candidates).CountRest();
        }

        long count = live.DeadCount == 0 ? 0 : -live.Dead().LongCount(candidates.Contains); // minus the dead candidates
        if (candidates is PostingsCursor or BitmapCursor or AllCursor)
        {
            return count + candidates.CountRest();
        }

        while (candidates.MoveNext() != EntryCursor.End)
        {
            count++;
            work.Step(1);
        }

        return count;
    }
}
