using Rookery.Documents.Databases;
using Rookery.Queries.Execution;

namespace Rookery.Queries.Answering;

/// <summary>Results that are the documents of a walk.</summary>
/// <param name="walk">The documents.</param>
/// <param name="writer">Writes the results; disposed with them.</param>
/// <param name="sink">Reserves memory for large documents.</param>
/// <param name="slices">Limits the query's working time.</param>
/// <param name="total">Number of results, if an index counted them; null if the walk counts them.</param>
/// <param name="disposedWithResults">The index's answer or the scan that found the walk's documents. Null
/// if the walk finds them.</param>
/// <param name="isResult">Whether the current document still matches; null if all do.</param>
/// <param name="limit">Maximum number of results.</param>
/// <param name="findMore">Appends further documents to the walk, to replace documents that no longer match. Returns
/// whether there were any. Null if the walk has all results.</param>
/// <param name="rewindFound">Makes the walk's first documents accessible again, which <paramref name="findMore"/> may
/// have dropped. Null if it drops none.</param>
internal sealed class WalkedResults(
    QueryWalk walk,
    ResultWriter writer,
    IAnswerSink sink,
    QueryTimeSlices slices,
    long? total = null,
    IDisposable? disposedWithResults = null,
    Func<bool>? isResult = null,
    long limit = long.MaxValue,
    Func<bool>? findMore = null,
    Action? rewindFound = null
) : IQueryResults
{
    private long? _total = total;
    private long _returned;

    public DatabaseReader Reader => walk.Reader;

    public long? KnownTotal => _total ?? walk.KnownTotal;

    public long? FilteredCount { get; init; }

    /// <summary>
    /// Whether the limit of the working time holds from one result to the next, instead of for all results together. A
    /// client may read whole collections for longer than the limit. Then counting the results is not limited either.
    /// </summary>
    public bool LimitsEachResult { get; init; }

    public ReadOnlySpan<byte> Id => walk.Head.Id;

    public long DocumentBytes => walk.Length;

    public async ValueTask<bool> MoveNextAsync()
    {
        slices.StartClock();
        bool hasMoved = await MoveWithinLimitsAsync();
        slices.StopClock();
        if (hasMoved && LimitsEachResult)
        {
            slices.ResetTotal();
        }

        return hasMoved;
    }

    // Any number of results may no longer match, so the time to skip them counts against the limits.
    private async ValueTask<bool> MoveWithinLimitsAsync()
    {
        while (_returned < limit)
        {
            if (slices.IsSliceOver)
            {
                walk.Pause();
                await slices.YieldAsync();
            }

            if (!await walk.MoveNextAsync(slices))
            {
                slices.StopClock();
                bool areMore = findMore?.Invoke() == true; // counts its own time
                slices.StartClock();
                if (!areMore)
                {
                    return false;
                }

                continue;
            }

            long bytes = writer.BytesFor(walk.Length);
            if (!sink.TryReserve(bytes))
            {
                walk.StepBack();
                slices.StopClock();
                await sink.WaitForMemoryAsync(bytes);
                slices.StartClock();
            }
            else if (isResult?.Invoke() != false)
            {
                _returned++;
                return true;
            }
        }

        return false;
    }

    public async ValueTask CorrectTotalAsync(IReadOnlySet<byte[]>? expiredIds)
    {
        if (isResult is null)
        {
            return;
        }

        // A limited page is read: it is filled up with further results, of which others may have expired.
        if (expiredIds is not null && limit == long.MaxValue)
        {
            slices.StartClock();
            _total -= await walk.CountIdsAsync(expiredIds, slices);
            slices.StopClock();
            return;
        }

        while (await MoveNextAsync())
        {
            // MoveNextAsync counts each result.
        }

        _total -= SkippedCount;
        await RewindAsync();
    }

    public long SkippedCount => isResult is null ? 0 : walk.Position + 1 - _returned;

    public void Write(IResultBuffer output) => writer.Write(output, walk);

    public void Collect(IReferenceCollector includes) => includes.Collect(walk.View.Body);

    public void CollectScripted(IReferenceCollector documents, IReferenceCollector compareExchange) =>
        writer.CollectScripted(documents, compareExchange);

    public void AddNotesTo(QueryNotes notes) => notes.Add(writer.ReadCurrent(walk));

    public void Pause() => walk.Pause();

    public async ValueTask<long> CountAsync()
    {
        if (_total is { } known)
        {
            return known;
        }

        slices.IsLimited = !LimitsEachResult;
        slices.StartClock();
        long counted = await walk.CountTotalAsync(slices);
        slices.StopClock();
        slices.IsLimited = true;
        return counted;
    }

    public ValueTask RewindAsync()
    {
        walk.Rewind();
        rewindFound?.Invoke();
        _returned = 0;
        if (LimitsEachResult)
        {
            slices.ResetTotal();
        }

        return ValueTask.CompletedTask;
    }

    public void Dispose()
    {
        walk.Dispose();
        disposedWithResults?.Dispose();
        writer.Dispose();
    }
}
