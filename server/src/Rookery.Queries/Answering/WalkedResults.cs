using Rookery.Documents.Databases;
using Rookery.Queries.Execution;

namespace Rookery.Queries.Answering;

/// <summary>Results of which each document of a walk is one.</summary>
/// <param name="walk">The documents.</param>
/// <param name="writer">Writes them.</param>
/// <param name="sink">Whose room is taken for large ones.</param>
/// <param name="total">How many results there are, when another count than that of the walk; null otherwise.</param>
/// <param name="found">Holds what the walk goes over, to be disposed with it; null when nothing does.</param>
/// <param name="isResult">Whether the document at hand is a result as it is now; null when all are.</param>
/// <param name="turns">The time of a query whose results are work; null otherwise.</param>
internal sealed class WalkedResults(
    QueryWalk walk,
    ResultWriter writer,
    IAnswerSink sink,
    long? total = null,
    IDisposable? found = null,
    Func<bool>? isResult = null,
    QueryTurns? turns = null
) : IQueryResults
{
    private long? _total = total;
    private long _given;

    public DatabaseReader Reader => walk.Reader;

    public long? KnownTotal => _total ?? walk.KnownTotal;

    public ReadOnlySpan<byte> Id => walk.Head.Id;

    public long DocumentBytes => walk.Length;

    public async ValueTask<bool> MoveNextAsync()
    {
        if (turns is { IsTurnOver: true })
        {
            walk.Pause();
            await turns.YieldAsync();
            turns.End();
        }

        while (walk.MoveNext())
        {
            if (await sink.HasRoomAsync(writer.BytesFor(walk.Length), walk.StepBack) && IsResult())
            {
                _given++;
                return true;
            }
        }

        return false;
    }

    // Those that were written or deleted since the index took them may be none any more.
    public async ValueTask SettleAsync()
    {
        if (isResult is null)
        {
            return;
        }

        while (await MoveNextAsync())
        {
            // Each counts itself.
        }

        _total -= Lacking;
        await RewindAsync();
    }

    /// <summary>Of the page, how many that the index named are none.</summary>
    private long Lacking => isResult is null ? 0 : walk.Place + 1 - _given;

    private bool IsResult()
    {
        if (isResult is null)
        {
            return true;
        }

        turns?.Begin();
        bool holds = isResult();
        turns?.End();
        return holds;
    }

    public void Write(IResultBuffer output) => writer.Write(output, walk);

    public void Collect(IReferenceCollector includes) => includes.Collect(walk.View.Body);

    public void Note(QueryNotes notes) => notes.Add(writer.Queried(walk));

    public void Pause() => walk.Pause();

    public ValueTask<long> CountAsync() =>
        ValueTask.FromResult(_total is { } told ? told - Lacking : walk.CountTotal());

    public ValueTask RewindAsync()
    {
        walk.Rewind();
        _given = 0;
        return ValueTask.CompletedTask;
    }

    public void Dispose()
    {
        walk.Dispose();
        found?.Dispose();
        writer.Dispose();
    }
}
