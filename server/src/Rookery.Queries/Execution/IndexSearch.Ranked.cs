using Rookery.Platform;
using Rookery.Queries.Scanning;
using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>Orders that places in the dictionaries of segments say.</summary>
internal sealed partial class IndexSearch
{
    /// <summary>Collects the page of a segment: keys are read only of what it may hold.</summary>
    private bool TryCollectRanked(
        int segment,
        EntryCursor candidates,
        SegmentSort sort,
        HitHeap heap,
        OpenedPostings opened,
        PooledBytes sortKey
    )
    {
        long bytes = RankedEntries.EntryBytes * Math.Min(plan.PageEnd, segments[segment].Reader.Entries);
        work.Memory.Take(bytes);
        if (GatherRanked(segment, candidates, sort, heap, opened, sortKey) is not { } first)
        {
            return false;
        }

        foreach (var ranked in first.InOrder())
        {
            if (sort.LacksDocument || !sort.TryRead(ranked, sortKey))
            {
                return false;
            }

            var place = PlaceOf(segment, ranked.Entry);
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

            Offer(hit, heap);
        }

        sort.ForgetAll();
        work.Memory.Give(bytes);
        return true;
    }

    /// <summary>
    /// The same of an index of one segment, whose order is that of the page: no key is read but where ranks do not tell
    /// two entries apart. Null where documents have to be looked at.
    /// </summary>
    private FoundEntry[]? TryTakeRanked(
        EntryCursor candidates,
        SegmentSort sort,
        OpenedPostings opened,
        PooledBytes sortKey
    )
    {
        work.Memory.Take(RankedEntries.EntryBytes * Math.Min(plan.PageEnd, segments[0].Reader.Entries));
        if (GatherRanked(0, candidates, sort, new HitHeap(plan.Sort, plan.PageEnd), opened, sortKey) is not { } first)
        {
            return null;
        }

        var ranked = first.InOrder();
        return sort.LacksDocument ? null : Array.ConvertAll(ranked, one => PlaceOf(0, one.Entry));
    }

    private FoundEntry PlaceOf(int segment, int entry)
    {
        var id = _documents[segment].Read(entry, out long etag);
        return new FoundEntry(etag, segment, entry, Id: _ids.Keep(id));
    }

    /// <summary>
    /// The first of the candidates of a segment by their ranks; null where documents have to be looked at.
    /// </summary>
    private RankedEntries? GatherRanked(
        int segment,
        EntryCursor candidates,
        SegmentSort sort,
        HitHeap heap,
        OpenedPostings opened,
        PooledBytes sortKey
    )
    {
        var first = new RankedEntries(plan.Sort, sort, _documents[segment], (int)plan.PageEnd, sortKey);
        if (TryWalkInOrder(segment, ref candidates, sort, heap, opened, first))
        {
            _walk.Ended(segments[segment].Live.DeadCount);
            return first;
        }

        sort.ForgetAll();
        first = new RankedEntries(plan.Sort, sort, _documents[segment], (int)plan.PageEnd, sortKey);
        var cursor = LiveOf(segment, candidates);
        for (int entry = cursor.MoveNext(); entry != EntryCursor.End; entry = cursor.MoveNext())
        {
            Count();
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
        HitHeap heap,
        OpenedPostings opened,
        RankedEntries first
    )
    {
        var (reader, live) = segments[segment];
        if (!_walk.Pays(plan.PageEnd, reader.Entries, candidates) || sort.InOrder(opened) is not { } terms)
        {
            return false;
        }

        if (!candidates.CanTell)
        {
            var union = new EntryUnion(reader.Entries, work);
            union.Add(candidates);
            candidates = union.ToCursor();
            if (!_walk.Pays(plan.PageEnd, reader.Entries, candidates))
            {
                return false;
            }
        }

        long left = _walk.MostSteps(candidates);
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

        _total += needsTotal ? CountLive(segment, candidates) : seen;
        return true;
    }

    private long CountLive(int segment, EntryCursor candidates)
    {
        var live = segments[segment].Live;
        work.Step(live.DeadCount);
        if (live.DeadCount > candidates.Cost)
        {
            return LiveOf(segment, candidates).CountRest();
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
