using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>
/// Limits one query's working time and yields the thread between time slices. Only the time between <see cref="Begin"/>
/// and <see cref="End"/> counts; waits for the client or for memory do not. Not thread-safe.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="limit">Total working time of the query.</param>
/// <param name="sink">Reports when the client disconnects.</param>
/// <param name="searches">Limits long index searches; null if they are limited elsewhere.</param>
/// <param name="stopping">Cancelled when the node stops.</param>
internal sealed class QueryTurns(
    TimeProvider time,
    TimeSpan limit,
    IAnswerSink sink,
    LongSearches? searches = null,
    CancellationToken stopping = default
) : AnswerTurns(() => sink.Left, stopping), IScanClock
{
    /// <summary>Total working time of a query whose client waits for the answer.</summary>
    public static readonly TimeSpan Budget = TimeSpan.FromMinutes(2);

    private long? _begun;
    private bool _isSearching;
    private bool _isLong;
    private TimeSpan _inTurn;
    private TimeSpan _inAll;

    /// <summary>
    /// Whether the slice is used up, counting the work since <see cref="Begin"/>. If so, release the document and call
    /// <see cref="YieldAsync"/>.
    /// </summary>
    public bool IsOver => _inTurn + SinceBegun > Turn;

    /// <summary>Whether the slice is used up, for a check between <see cref="End"/> and <see cref="Begin"/>.</summary>
    public bool IsTurnOver => _inTurn > Turn;

    private TimeSpan SinceBegun => _begun is { } begun ? time.GetElapsedTime(begun) : TimeSpan.Zero;

    /// <summary>Starts or resumes the work.</summary>
    public void Begin() => _begun = time.GetTimestamp();

    /// <summary>Pauses the work.</summary>
    public void End()
    {
        var worked = SinceBegun;
        _inTurn += worked;
        _inAll += worked;
        _begun = null;
    }

    /// <summary>Resets the working time, because the query starts again.</summary>
    public void BeginAgain() => _inAll = TimeSpan.Zero;

    /// <summary>Starts an index search, which runs without yielding.</summary>
    /// <returns>Ends the search when it is disposed.</returns>
    public Search BeginSearch()
    {
        Begin();
        _isSearching = searches is not null;
        return new Search(this);
    }

    /// <summary>Ends the slice, yields the thread, and starts the next slice.</summary>
    /// <exception cref="QueryException">The query's working time is used up.</exception>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    public async ValueTask YieldAsync()
    {
        OnWork();
        End();
        _inTurn = TimeSpan.Zero;
        await Task.Yield();
        Begin();
    }

    /// <inheritdoc/>
    /// <exception cref="QueryException">The query's working time is used up, or the index search takes long and no
    /// place for another long search is free.</exception>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    public void OnWork()
    {
        Check();
        if (_inAll + SinceBegun > limit)
        {
            throw new QueryException(
                QueryFault.TooCostly,
                $"The query did not finish in {limit.TotalMinutes} minutes of work. Narrow it by "
                    + $"a collection or by ids."
            );
        }

        if (_isSearching && !_isLong && SinceBegun > LongSearches.LongAfter)
        {
            searches!.Enter();
            _isLong = true;
        }
    }

    private void EndSearch()
    {
        End();
        _isSearching = false;
        if (_isLong)
        {
            _isLong = false;
            searches!.Leave();
        }
    }

    /// <summary>A running index search, which ends when this is disposed.</summary>
    internal readonly struct Search(QueryTurns turns) : IDisposable
    {
        public void Dispose() => turns.EndSearch();
    }
}
