using Rookery.Documents.Databases;
using Rookery.Queries.Execution;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>Results that are written as a scan finds them.</summary>
/// <param name="scan">Finds the results; positioned on the first.</param>
/// <param name="writer">Writes the results.</param>
/// <param name="startRun">Creates the evaluation for a second walk.</param>
internal sealed class StreamedResults(ScannedDocuments scan, ResultWriter writer, Func<ScanRun> startRun)
    : IQueryResults
{
    private bool _isAtFirst = true;
    private ScanResults? _end;

    public DatabaseReader Reader => scan.Walk.Reader;

    public long? KnownTotal => null;

    public long? FilteredCount => scan.Run.FilteredCount;

    public ReadOnlySpan<byte> Id => scan.Walk.Head.Id;

    public long DocumentBytes => scan.Walk.Length;

    public async ValueTask<bool> MoveNextAsync()
    {
        if (_isAtFirst)
        {
            _isAtFirst = false;
            return true;
        }

        return await scan.MoveNextAsync();
    }

    public void Write(IResultBuffer output) => writer.Write(output, scan.Walk);

    public void Collect(IReferenceCollector includes) => includes.Collect(scan.Walk.View.Body);

    public void CollectScripted(IReferenceCollector documents, IReferenceCollector compareExchange) =>
        writer.CollectScripted(documents, compareExchange);

    public void AddNotesTo(QueryNotes notes) => notes.Add(writer.ReadCurrent(scan.Walk));

    public void Pause() => scan.Walk.Pause();

    public async ValueTask<long> CountAsync()
    {
        while (await scan.MoveNextAsync())
        {
            // The evaluation counts.
        }

        _end ??= scan.Run.Finish();
        return _end.TotalResults;
    }

    public async ValueTask RewindAsync()
    {
        scan.Rewind(startRun());
        _end = null;
        _isAtFirst = await scan.MoveNextAsync();
    }

    public void Dispose()
    {
        scan.Dispose();
        writer.Dispose();
    }
}
