using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>Evaluates the documents of a walk one by one, and yields between time slices. Not thread-safe.</summary>
internal sealed class ScannedDocuments : IDisposable
{
    private readonly AnswerScope _scope;
    private readonly QueryWalk _walk;
    private readonly QueryTimeSlices _slices;
    private readonly bool _countsAll;
    private readonly IDisposable? _disposedWithScan;
    private ScanRun _run;
    private WalkDeduplicator? _deduplicator;

    /// <summary>Creates a scan positioned before the first document.</summary>
    /// <param name="scope">The context of the answer.</param>
    /// <param name="walk">The documents to read.</param>
    /// <param name="run">Evaluates the documents.</param>
    /// <param name="countsAll">Whether documents that do not match are also passed to <paramref name="run"/>, because
    /// <c>filter_limit</c> counts them.</param>
    /// <param name="disposedWithScan">The answer of the index that found the walk's documents; disposed with the scan.
    /// Null if no index was searched.</param>
    public ScannedDocuments(
        AnswerScope scope,
        QueryWalk walk,
        ScanRun run,
        bool countsAll,
        IDisposable? disposedWithScan = null
    )
    {
        (_scope, _slices) = (scope, scope.Slices);
        _walk = walk;
        _run = run;
        _countsAll = countsAll;
        _disposedWithScan = disposedWithScan;
        _deduplicator = CreateDeduplicator();
    }

    /// <summary>The walk, positioned on the current document.</summary>
    public QueryWalk Walk => _walk;

    /// <summary>The evaluation, which collects sorted or grouped results.</summary>
    public ScanRun Run => _run;

    /// <summary>
    /// Evaluates documents up to the next result that can be written at once. If the query sorts or groups, no result
    /// can: the call evaluates all documents, and <see cref="Run"/> collects the results.
    /// </summary>
    /// <returns>False at the end of the documents.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    public async ValueTask<bool> MoveNextAsync()
    {
        _slices.StartClock();
        while (!_run.IsComplete)
        {
            if (_slices.IsSliceOver)
            {
                _walk.Pause();
                await _slices.YieldAsync();
            }

            if (!await _walk.MoveNextAsync(_slices) || _deduplicator?.EndsAt(_walk.Etag, NewestEtag) is true)
            {
                break;
            }

            long bytes = _scope.Writer.BytesFor(_walk.Length);
            if (!_scope.Sink.TryReserve(bytes))
            {
                _walk.StepBack();
                _slices.StopClock();
                await _scope.Sink.WaitForMemoryAsync(bytes);
                _slices.StartClock();
            }
            else if (IsResult())
            {
                _walk.FoundScore = _run.Score;
                _slices.StopClock();
                return true;
            }
        }

        _slices.StopClock();
        return false;
    }

    /// <summary>
    /// Moves back before the first document. Does not search the index again, because a new search could find other
    /// documents.
    /// </summary>
    /// <param name="run">Replaces the evaluation.</param>
    public void Rewind(ScanRun run)
    {
        _run.Dispose();
        _run = run;
        _walk.Rewind();
        _deduplicator = CreateDeduplicator();
        _slices.ResetTotal();
    }

    public void Dispose()
    {
        _run.Dispose();
        _walk.Dispose();
        _disposedWithScan?.Dispose();
    }

    // Only a walk in the order of etags that renews its snapshot can meet a document twice: a write gives the document
    // a higher etag.
    private WalkDeduplicator? CreateDeduplicator() =>
        _walk is { IsInOrderOfWriting: true, IsRenewed: true } ? new WalkDeduplicator(NewestEtag()) : null;

    private bool IsResult()
    {
        var document = _scope.Writer.ReadCurrent(_walk);
        if (_deduplicator is null)
        {
            return _run.Add(document);
        }

        bool isToEvaluate = _run.Matches(document)
            ? _deduplicator.TryRegister(document.View.Id) // false if it was returned before
            : _countsAll;
        return isToEvaluate && _run.Add(document);
    }

    private long NewestEtag() => _scope.Reader.Current.ReadStatistics().LastEtag;
}
