using Rookery.Platform;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>
/// Finds the first entries in an order that places in the dictionaries of segments say: keys are read only of what a
/// page may hold. For one thread.
/// </summary>
/// <param name="segments">The index.</param>
/// <param name="plan">The query.</param>
/// <param name="work">Of the answer.</param>
/// <param name="needsTotal">Whether results behind the page are counted.</param>
/// <param name="walk">When a page is found by walking over the terms of its order.</param>
/// <param name="heap">The page, as far as it is found.</param>
/// <param name="sortKey">Room for a key.</param>
internal sealed class RankedPage(
    SearchedSegments segments,
    ScanPlan plan,
    AnswerWork work,
    bool needsTotal,
    OrderWalk walk,
    HitHeap heap,
    PooledBytes sortKey
)
{
    /// <summary>Adds to the page what a segment has of it.</summary>
    /// <returns>False where documents have to be looked at.</returns>
    public bool TryCollect(int segment, EntryCursor candidates, SegmentSort sort, OpenedPostings opened)
    {
        long bytes = RankedEntries.EntryBytes * Math.Min(plan.PageEnd, segments[segment].Reader.Entries);
        work.Memory.Take(bytes);
        if (Gather(segment, candidates, sort, opened) is not { } first)
        {
            return false;
        }

        foreach (var ranked in first.InOrder())
        {
            if (sort.LacksDocument || !sort.TryRead(ranked, sortKey))
            {
                return false;
            }

            var place = segments.PlaceOf(segment, ranked.Entry);
            var hit = new ScanHit
            {
                SortKey = ranked.SortKey!,
                Ordinal = place.Etag,
                Etag = place.Etag,
                Id = [],
                Place = place,
            };
            if (!heap.Wants(hit.SortKey, hit.Etag))
            {
                break;
            }

            heap.Keep(hit, work.Memory);
        }

        sort.ForgetAll();
        work.Memory.Give(bytes);
        return true;
    }

    /// <summary>
    /// The page of an index of one segment, whose order is that of the page: no key is read but where ranks do not tell
    /// two entries apart. Null where documents have to be looked at.
    /// </summary>
    public FoundEntry[]? TryTake(EntryCursor candidates, SegmentSort sort, OpenedPostings opened)
    {
        work.Memory.Take(RankedEntries.EntryBytes * Math.Min(plan.PageEnd, segments[0].Reader.Entries));
        if (Gather(0, candidates, sort, opened) is not { } first)
        {
            return null;
        }

        var ranked = first.InOrder();
        return sort.LacksDocument ? null : Array.ConvertAll(ranked, one => segments.PlaceOf(0, one.Entry));
    }

    /// <summary>
    /// The first of the candidates of a segment by their ranks; null where documents have to be looked at.
    /// </summary>
    private RankedEntries? Gather(int segment, EntryCursor candidates, SegmentSort sort, OpenedPostings opened)
    {
        var first = new RankedEntries(plan.Sort, sort, segments.Documents[segment], (int)plan.PageEnd, sortKey);
        if (TryWalkInOrder(segment, ref candidates, sort, opened, first))
        {
            walk.Ended(segments[segment].Live.DeadCount);
            return first;
        }

        sort.ForgetAll();
        first = new RankedEntries(plan.Sort, sort, segments.Documents[segment], (int)plan.PageEnd, sortKey);
        var cursor = segments.LiveOf(segment, candidates);
        for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
        {
            segments.CountResult();
            long rank = sort.Rank(0, entry);
            if (
                first.MayWant(rank)
                && !(heap.Last is { } last && sort.IsBehind(entry, last.SortKey, out _))
                && !first.TryAdd(entry, rank)
            )
            {
                return null;
            }
        }

        return first;
    }

    /// <summary>
    /// Gathers the first entries by walking over the terms of the order and asking of each entry whether it is a
    /// candidate, where matches are so many that this finds the page sooner than looking at each of them. Gives up when
    /// it took as long as that: then candidates lie where the order comes to them late.
    /// </summary>
    /// <returns>False when it was not done: all candidates have to be looked at.</returns>
    private bool TryWalkInOrder(
        int segment,
        ref EntryCursor candidates,
        SegmentSort sort,
        OpenedPostings opened,
        RankedEntries first
    )
    {
        var (reader, live) = segments[segment];
        if (!walk.Pays(plan.PageEnd, reader.Entries, candidates) || sort.InOrder(opened) is not { } terms)
        {
            return false;
        }

        if (!candidates.CanTell)
        {
            var union = new EntryUnion(reader.Entries, work);
            union.Add(candidates);
            candidates = union.ToCursor();
            if (!walk.Pays(plan.PageEnd, reader.Entries, candidates))
            {
                return false;
            }
        }

        long left = walk.MostSteps(candidates);
        long seen = 0;
        bool isBehind = false;
        foreach (long rank in terms.Ranks())
        {
            work.Step(1 + terms.Entries.Count);
            if (first.IsFull && !first.MayWant(rank))
            {
                break;
            }

            if (rank == 0 && terms.EndsEarly)
            {
                return false; // among those are some that are not met
            }

            for (int entry = terms.Entries.MoveNext(); entry != EntryCursor.End; entry = terms.Entries.MoveNext())
            {
                if (--left < 0)
                {
                    return false;
                }

                if (!candidates.Has(entry) || !live.IsLive(entry))
                {
                    continue;
                }

                seen++;
                isBehind = heap.Last is { } last && sort.IsBehind(entry, last.SortKey, out _);
                if (isBehind)
                {
                    break; // so are all that follow
                }

                if (!first.TryAdd(entry, rank))
                {
                    return false;
                }
            }

            if (isBehind)
            {
                break;
            }
        }

        if (terms.EndsEarly && !first.IsFull && !isBehind)
        {
            return false;
        }

        segments.Total += needsTotal ? CountLive(segment, candidates) : seen;
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

        long count = live.DeadCount == 0 ? 0 : -live.Dead().LongCount(candidates.Has);
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
