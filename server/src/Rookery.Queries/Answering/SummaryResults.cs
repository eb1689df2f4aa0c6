using Rookery.Documents.Databases;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Summaries;

namespace Rookery.Queries.Answering;

/// <summary>What a query computes of its results, all of it before the first object is written.</summary>
/// <param name="summary">Holds it.</param>
/// <param name="reader">Reads what else the answer holds; outlives this.</param>
internal sealed class SummaryResults(SummaryRun summary, AnswerReader reader) : IQueryResults
{
    private int _at = -1;

    public DatabaseReader Reader => reader.Current;

    public long? KnownTotal => summary.Count;

    public ReadOnlySpan<byte> Id => default;

    public long DocumentBytes => 0;

    /// <summary>Gives all documents of a scan to a summary.</summary>
    /// <exception cref="QueryException">The time or the memory of the query is used up.</exception>
    public static async ValueTask GatherAsync(AnswerScope scope, ScannedDocuments scan, SummaryRun summary)
    {
        while (await scan.MoveNextAsync())
        {
            scope.Turns.Begin();
            summary.Add(scope.Writer.Queried(scan.Walk));
            scope.Turns.End();
        }
    }

    public ValueTask<bool> MoveNextAsync() => ValueTask.FromResult(++_at < summary.Count);

    public void Write(IResultBuffer output) => summary.Write(_at, output);

    public void Collect(IReferenceCollector includes)
    {
        // Plans of summaries refuse them.
    }

    public void Note(QueryNotes notes)
    {
        // Plans of summaries have none.
    }

    public void Pause() => reader.Pause();

    public ValueTask<long> CountAsync() => ValueTask.FromResult((long)summary.Count);

    public void Dispose()
    {
        summary.Dispose();
    }
}
