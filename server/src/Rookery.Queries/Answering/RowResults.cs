using Rookery.Documents.Databases;
using Rookery.Indexing.Values;
using Rookery.Queries.Execution;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>The reduced rows of an answer's page, in order.</summary>
internal interface IFoundRows
{
    /// <summary>Number of rows on the page.</summary>
    int Count { get; }

    /// <summary>Number of rows, on the page or not.</summary>
    long TotalResults { get; }

    /// <summary>Returns the members of a row, without braces, valid until the next call.</summary>
    ReadOnlySpan<byte> Read(int index);

    /// <summary>Returns the score of a row; null if the query does not score.</summary>
    double? ScoreOf(int index);
}

/// <summary>The page of reduced rows that an index found.</summary>
/// <param name="indexAnswer">The answer of the index.</param>
internal sealed class PageOfRows(IndexAnswer indexAnswer) : IFoundRows
{
    public int Count => indexAnswer.Documents.Count;

    public long TotalResults => indexAnswer.TotalResults ?? 0;

    public ReadOnlySpan<byte> Read(int index) => indexAnswer.ReadRow(index);

    public double? ScoreOf(int index) => indexAnswer.Documents[index].Score;
}

/// <summary>The page of reduced rows that were evaluated one by one.</summary>
/// <param name="rows">The rows.</param>
/// <param name="total">Number of rows, on the page or not.</param>
internal sealed class ScannedRows(ScannedDocument[] rows, long total) : IFoundRows
{
    public int Count => rows.Length;

    public long TotalResults => total;

    public ReadOnlySpan<byte> Read(int index) => rows[index].Row.Span;

    public double? ScoreOf(int index) => rows[index].Score;
}

/// <summary>Results that are reduced rows of an index.</summary>
/// <param name="rows">The rows.</param>
/// <param name="compiled">The compiled query, which may select fields.</param>
/// <param name="writer">Runs the selection's script, if the query has one; disposed with this.</param>
/// <param name="reader">Reads included documents; outlives this.</param>
/// <param name="rowsOwner">Owns the rows' memory; disposed with this.</param>
internal sealed class RowResults(
    IFoundRows rows,
    CompiledQuery compiled,
    ResultWriter writer,
    AnswerReader reader,
    IDisposable rowsOwner
) : IQueryResults
{
    private int _index = -1;

    public DatabaseReader Reader => reader.Current;

    public long? KnownTotal => rows.TotalResults;

    public long? FilteredCount { get; init; }

    public ReadOnlySpan<byte> Id => default;

    public long DocumentBytes => 0;

    public ValueTask<bool> MoveNextAsync() => ValueTask.FromResult(++_index < rows.Count);

    public void Write(IResultBuffer output)
    {
        var row = rows.Read(_index);
        double? score = compiled.IsScored ? rows.ScoreOf(_index) : null;
        if (writer.Scripted is { } scripted)
        {
            scripted.Write(output, row, score, reader);
            return;
        }

        output.Write("{"u8);
        int start = output.Length;
        if (compiled.ReturnsDocuments)
        {
            output.Write(row);
        }
        else
        {
            compiled.WriteMembers(new QueriedDocument(row) { Score = score ?? 0 }, output);
        }

        output.Write(
            output.Length == start ? "\"@metadata\":{\"@projection\":true"u8 : ",\"@metadata\":{\"@projection\":true"u8
        );
        if (score is { } computed)
        {
            output.Write(",\"@index-score\":"u8);
            CompiledQuery.WriteScore(computed, output);
        }

        output.Write("}}"u8);
    }

    public void Collect(IReferenceCollector includes) => includes.Collect(rows.Read(_index));

    public void CollectScripted(IReferenceCollector documents, IReferenceCollector compareExchange) =>
        writer.CollectScripted(documents, compareExchange);

    public void AddNotesTo(QueryNotes notes) => notes.Add(new QueriedDocument(rows.Read(_index)));

    public void Pause() => reader.Pause();

    public ValueTask<long> CountAsync() => ValueTask.FromResult(rows.TotalResults);

    public void Dispose()
    {
        rowsOwner.Dispose();
        writer.Dispose();
    }
}
