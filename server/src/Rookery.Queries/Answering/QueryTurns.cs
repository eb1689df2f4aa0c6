using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>
/// The time of one query: it works for <see cref="Turn"/>, then others have theirs, until it has worked as long as it
/// may. Only what passes between <see cref="Begin"/> and
/// <see cref="End"/> is work; while its client or room is waited for, none is done. Not thread-safe.
/// </summary>
/// <param name="time">The clock.</param>
/// <param name="limit">How long it may work in all.</param>
/// <param name="sink">Says that the client left.</param>
/// <param name="searches">Bounds searches that take long; null where they are bounded otherwise.</param>
/// <param name="stopping">Says that the node stops.</param>
internal sealed class QueryTurns(
    TimeProvider time,
    TimeSpan limit,
    IAnswerSink sink,
    LongSearches? searches = null,
    CancellationToken stopping = default
) : IScanClock
{
    /// <summary>How long a query works before others go first.</summary>
    public static readonly TimeSpan Turn = TimeSpan.FromMilliseconds(10);

    /// <summary>How long a query that somebody waits for may work in all.</summary>
    public static readonly TimeSpan Budget = TimeSpan.FromMinutes(2);

    // So many documents are passed in less time than a turn.
    private const int PassedBetweenChecks = 1024;

    private int _passed;
    private long? _begun;
    private bool _isSearching;
    private bool _isLong;
    private TimeSpan _inTurn;
    private TimeSpan _inAll;

    /// <summary>Whether it is others' turn: let go of what is being read, and call <see cref="YieldAsync"/>.</summary>
    public bool IsOver => _inTurn + SinceBegun > Turn;

    /// <summary>Whether the turn is used up, asked while no work runs.</summary>
    public bool IsTurnOver => _inTurn > Turn;

    private TimeSpan SinceBegun => _begun is { } begun ? time.GetElapsedTime(begun) : TimeSpan.Zero;

    /// <summary>Begins to work, or goes on.</summary>
    public void Begin() => _begun = time.GetTimestamp();

    /// <summary>Stops working for now.</summary>
    public void End()
    {
        var worked = SinceBegun;
        _inTurn += worked;
        _inAll += worked;
        _begun = null;
    }

    /// <summary>The work begins again, with all of its time.</summary>
    public void BeginAgain() => _inAll = TimeSpan.Zero;

    /// <summary>Begins to search an index, which is done in one piece.</summary>
    /// <returns>Ends it.</returns>
    public Search BeginSearch()
    {
        Begin();
        _isSearching = searches is not null;
        return new Search(this);
    }

    /// <summary>Lets others work.</summary>
    /// <exception cref="QueryException">The time of the query is used up.</exception>
    /// <exception cref="OperationCanceledException">The client left, or the node stops.</exception>
    public async ValueTask YieldAsync()
    {
        OnWork();
        End();
        _inTurn = TimeSpan.Zero;
        await Task.Yield();
        Begin();
    }

    /// <summary>Called for each document that is passed over.</summary>
    /// <exception cref="OperationCanceledException">The client left, or the node stops.</exception>
    public void Pass()
    {
        if (++_passed == PassedBetweenChecks)
        {
            _passed = 0;
            ThrowIfEnded();
        }
    }

    /// <inheritdoc/>
    /// <exception cref="QueryException">The time of the query is used up, or the search of an index takes long, and too
    /// many others do.</exception>
    /// <exception cref="OperationCanceledException">The client left, or the node stops.</exception>
    public void OnWork()
    {
        ThrowIfEnded();
        if (_inAll + SinceBegun > limit)
        {
            throw new QueryException(
                QueryFault.TooCostly,
                $"The query worked for {limit.TotalMinutes} minutes without coming to its end. Narrow it by "
                    + $"a collection or by ids."
            );
        }

        if (_isSearching && !_isLong && SinceBegun > LongSearches.LongAfter)
        {
            searches!.Enter();
            _isLong = true;
        }
    }

    private void ThrowIfEnded()
    {
        sink.Left.ThrowIfCancellationRequested();
        stopping.ThrowIfCancellationRequested();
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

    /// <summary>A search that goes on until it is disposed.</summary>
    internal readonly struct Search(QueryTurns turns) : IDisposable
    {
        public void Dispose() => turns.EndSearch();
    }
}
