using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>Gives the documents of a walk to a scan, in turns with what else the node does. Not thread-safe.</summary>
internal sealed class ScannedDocuments : IDisposable
{
    private readonly AnswerScope _scope;
    private readonly QueryWalk _walk;
    private readonly QueryTurns _turns;
    private readonly bool _countsAll;
    private readonly IDisposable? _found;
    private ScanRun _run;
    private WalkedOnce? _once;

    /// <summary>A scan at its beginning.</summary>
    /// <param name="scope">What the answer is made with; room is taken while a large document is looked at.</param>
    /// <param name="walk">The documents to look at.</param>
    /// <param name="run">Says which of them are results.</param>
    /// <param name="countsAll">Whether the scan has to see documents that do not match: <c>filter_limit</c> counts
    /// them.</param>
    /// <param name="found">Holds what the walk goes over, to be disposed with it; null when nothing does.</param>
    public ScannedDocuments(AnswerScope scope, QueryWalk walk, ScanRun run, bool countsAll, IDisposable? found = null)
    {
        (_scope, _turns) = (scope, scope.Turns);
        _walk = walk;
        _run = run;
        _countsAll = countsAll;
        _found = found;
        _once = BeginOnce();
    }

    /// <summary>The walk, which stands on the document at hand.</summary>
    public QueryWalk Walk => _walk;

    /// <summary>What was found.</summary>
    public ScanRun Run => _run;

    /// <summary>Goes to the next document that is to be written at once.</summary>
    /// <returns>False at the end.</returns>
    /// <exception cref="QueryException">The time or the memory of the query is used up.</exception>
    public async ValueTask<bool> MoveNextAsync()
    {
        _turns.Begin();
        while (!_run.IsComplete)
        {
            if (_turns.IsOver)
            {
                _walk.Pause();
                await _turns.YieldAsync();
            }

            if (!_walk.MoveNext() || (_once?.IsOver(_walk.Etag, NewestEtag) ?? false))
            {
                break;
            }

            long bytes = _scope.Writer.BytesFor(_walk.Length);
            if (!_scope.Sink.TryMakeRoom(bytes))
            {
                _walk.StepBack();
                _turns.End();
                await _scope.Sink.WaitForRoomAsync(bytes);
                _turns.Begin();
            }
            else if (IsResult())
            {
                _walk.FoundScore = _run.Score;
                _turns.End();
                return true;
            }
        }

        _turns.End();
        return false;
    }

    /// <summary>
    /// Begins again with the same documents: an index is not searched again, which would answer from another moment.
    /// </summary>
    /// <param name="run">Takes the place of the one before.</param>
    public void Rewind(ScanRun run)
    {
        _run.Dispose();
        _run = run;
        _walk.Rewind();
        _once = BeginOnce();
        _turns.BeginAgain();
    }

    public void Dispose()
    {
        _run.Dispose();
        _walk.Dispose();
        _found?.Dispose();
    }

    private WalkedOnce? BeginOnce() =>
        _walk is { IsInOrderOfWriting: true, IsRenewed: true } ? new WalkedOnce(NewestEtag()) : null;

    private bool IsResult()
    {
        var document = _scope.Writer.Queried(_walk);
        if (_once is null)
        {
            return _run.Add(document);
        }

        bool matches = _run.Matches(document);
        return (matches ? _once.IsNew(document.View.Id) : _countsAll) && _run.Add(document);
    }

    private long NewestEtag() => _scope.Reader.Current.ReadStatistics().LastEtag;
}
