using Rookery.Documents.Databases;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;
using Rookery.Queries.Summaries;

namespace Rookery.Queries.Answering;

/// <summary>Results that are a summary (facets or suggestions), computed before the first is written.</summary>
/// <param name="summary">The summary; disposed with this.</param>
/// <param name="reader">Reads included documents; outlives this.</param>
internal sealed class SummaryResults(SummaryRun summary, AnswerReader reader) : IQueryResults
{
    private int _index = -1;

    public DatabaseReader Reader => reader.Current;

    public long? KnownTotal => summary.Count;

    public ReadOnlySpan<byte> Id => default;

    public long DocumentBytes => 0;

    /// <summary>Adds all documents of a scan to a summary.</summary>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    public static async ValueTask GatherAsync(AnswerScope scope, ScannedDocuments scan, SummaryRun summary)
    {
        while (await scan.MoveNextAsync())
        {
            scope.Slices.StartClock();
            summary.Add(scope.Writer.ReadCurrent(scan.Walk));
            scope.Slices.StopClock();
        }
    }

    public ValueTask<bool> MoveNextAsync() => ValueTask.FromResult(++_index < summary.Count);

    public void Write(IResultBuffer output) => summary.Write(_index, output);

    // The values of a facet may be ids to include.
    public void Collect(IReferenceCollector includes) =>
        summary.ReadValues(_index, values => includes.Collect(values.Span));

    public void AddNotesTo(QueryNotes notes)
    {
        // A query with a summary has no notes.
    }

    public void Pause() => reader.Pause();

    public ValueTask<long> CountAsync() => ValueTask.FromResult((long)summary.Count);

    public void Dispose()
    {
        summary.Dispose();
    }
}
