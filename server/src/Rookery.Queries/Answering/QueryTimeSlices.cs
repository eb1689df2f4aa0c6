using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>
/// Limits one query's working time and yields the thread between time slices. Only the time between
/// <see cref="StartClock"/> and <see cref="StopClock"/> counts; waits for the client or for memory do not. Not
/// thread-safe.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="limit">Total working time of the query.</param>
/// <param name="sink">Reports when the client disconnects.</param>
/// <param name="searches">Limits long index searches; null for no limit.</param>
/// <param name="stopping">Cancelled when the node stops.</param>
internal sealed class QueryTimeSlices(
    TimeProvider time,
    TimeSpan limit,
    IAnswerSink sink,
    LongSearches? searches = null,
    CancellationToken stopping = default
) : TimeSlices(() => sink.Disconnected, stopping), IWorkLimits
{
    private long? _clockStart; // null while the clock is stopped
    private bool _isSearching;
    private bool _holdsLongSearchPlace;
    private TimeSpan _workInSlice;
    private TimeSpan _totalWork;

    /// <summary>
    /// Whether the slice is used up, counting the work since <see cref="StartClock"/>. If so, release the document and
    /// call <see cref="YieldAsync"/>.
    /// </summary>
    public bool IsSliceOver => _workInSlice + SinceClockStart > SliceLength;

    /// <summary>
    /// Whether the total working time is limited. Without a limit, the work ends only if the client disconnects or the
    /// node stops.
    /// </summary>
    public bool IsLimited { get; set; } = true;

    private TimeSpan SinceClockStart => _clockStart is { } start ? time.GetElapsedTime(start) : TimeSpan.Zero;

    /// <summary>Counts the working time from now on.</summary>
    public void StartClock() => _clockStart = time.GetTimestamp();

    /// <summary>Stops counting the working time, before a wait or the end.</summary>
    public void StopClock()
    {
        var worked = SinceClockStart;
        _workInSlice += worked;
        _totalWork += worked;
        _clockStart = null;
    }

    /// <summary>
    /// Resets the total working time, because the query starts again or its limit holds for each result.
    /// </summary>
    public void ResetTotal() => _totalWork = TimeSpan.Zero;

    /// <summary>Starts an index search, which runs without yielding.</summary>
    /// <returns>Ends the search when it is disposed.</returns>
    public Search StartSearch()
    {
        StartClock();
        _isSearching = searches is not null;
        return new Search(this);
    }

    /// <summary>Ends the slice, yields the thread, and starts the next slice.</summary>
    /// <exception cref="QueryException">The query's working time is used up.</exception>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    public async ValueTask YieldAsync()
    {
        CheckLimits();
        StopClock();
        _workInSlice = TimeSpan.Zero;
        await Task.Yield();
        StartClock();
    }

    /// <inheritdoc/>
    /// <exception cref="QueryException">The query's working time is used up, or the index search takes long and no
    /// place for another long search is free.</exception>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    public void CheckLimits()
    {
        CheckCancelled();
        if (IsLimited && _totalWork + SinceClockStart > limit)
        {
            throw new QueryException(
                QueryFault.TooCostly,
                $"The query did not finish in {limit.TotalMinutes} minutes of work. Narrow it by "
                    + "a collection or by ids, or read fewer documents at a time."
            );
        }

        if (_isSearching && !_holdsLongSearchPlace && SinceClockStart > LongSearches.LongAfter)
        {
            searches!.TakePlace();
            _holdsLongSearchPlace = true;
        }
    }

    private void EndSearch()
    {
        StopClock();
        _isSearching = false;
        if (_holdsLongSearchPlace)
        {
            _holdsLongSearchPlace = false;
            searches!.ReleasePlace();
        }
    }

    /// <summary>A running index search, which ends when this is disposed.</summary>
    internal readonly struct Search(QueryTimeSlices slices) : IDisposable
    {
        public void Dispose() => slices.EndSearch();
    }
}
