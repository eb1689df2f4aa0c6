using System.Text;
using Rookery.Documents.Databases;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>
/// Writes the current document of a walk as a query result: whole, its metadata only, or the selected fields.
/// </summary>
/// <param name="database">The database.</param>
/// <param name="compiled">The compiled query, which may select fields; null for whole documents.</param>
/// <param name="metadataOnly">Whether to write only the metadata of a whole document.</param>
/// <param name="hasIncludes">Whether the answer includes something that the results refer to.</param>
/// <param name="scripted">Computes the results of a query that selects by a script; else null. Disposed with
/// this.</param>
/// <param name="limits">Checked while a selection is written; null for whole documents.</param>
internal sealed class ResultWriter(
    Database database,
    CompiledQuery? compiled,
    bool metadataOnly,
    bool hasIncludes,
    ScriptedResults? scripted = null,
    IWorkLimits? limits = null
) : IDisposable
{
    // Computing a result takes memory for the document and for a result of up to twice its length.
    private const int ComputedResultFactor = 3;

    private readonly byte[] _historyId = Encoding.ASCII.GetBytes(database.HistoryId);

    /// <summary>Computes the results of a query that selects by a script; else null.</summary>
    public ScriptedResults? Scripted => scripted;

    /// <summary>
    /// Returns the row that the index stores for a document, by the document's position in the walk. Null if the
    /// selection reads no stored fields.
    /// </summary>
    public Func<int, ReadOnlyMemory<byte>>? RowOf { get; set; }

    /// <summary>Returns the current document in the form that conditions read.</summary>
    public QueriedDocument ReadCurrent(QueryWalk walk) =>
        new(walk.View, walk.Etag, _historyId) { Score = walk.Score ?? 0 };

    /// <summary>Returns the maximum memory to read and write a document of this length, in bytes.</summary>
    public long BytesFor(long documentBytes) =>
        hasIncludes || compiled is { ReturnsDocuments: false } ? ComputedResultFactor * documentBytes : documentBytes;

    /// <summary>Writes the current document.</summary>
    /// <exception cref="QueryException">The selection is much larger than the document.</exception>
    public void Write(IResultBuffer output, QueryWalk walk)
    {
        if (compiled is { ReturnsRows: true })
        {
            WriteRow(output, walk);
            return;
        }

        if (compiled is not { ReturnsDocuments: false })
        {
            walk.Write(output, _historyId, metadataOnly);
            WriteScore(output, walk);
            return;
        }

        if (scripted is not null)
        {
            scripted.Write(output, walk);
            return;
        }

        output.Write("{"u8);
        int start = output.Length;
        var row = RowOf is null ? default : RowOf(walk.Position);
        compiled.WriteMembers(
            RowOf is null ? ReadCurrent(walk) : ReadCurrent(walk).WithRow(row.Span),
            output,
            limits,
            compiled.SelectsCounters ? walk.Reader : null
        );
        WriteEnd(output, walk, isEmpty: output.Length == start);
    }

    /// <summary>Adds what the script included while the last result was written.</summary>
    public void CollectScripted(IReferenceCollector documents, IReferenceCollector compareExchange)
    {
        foreach (byte[] id in scripted?.IncludedIds ?? [])
        {
            documents.Include(id);
        }

        foreach (byte[] key in scripted?.IncludedKeys ?? [])
        {
            compareExchange.Include(key);
        }
    }

    private void WriteRow(IResultBuffer output, QueryWalk walk)
    {
        var row = RowOf!(walk.Position).Span;
        output.Write("{"u8);
        output.Write(row);
        WriteEnd(output, walk, row.IsEmpty);
    }

    /// <summary>Writes the metadata of a result that is not a whole document.</summary>
    private static void WriteEnd(IResultBuffer output, QueryWalk walk, bool isEmpty)
    {
        output.Write(
            isEmpty
                ? "\"@metadata\":{\"@projection\":true,\"@id\":"u8
                : ",\"@metadata\":{\"@projection\":true,\"@id\":"u8
        );
        JsonText.WriteString(output, walk.Head.Id);
        output.Write("}}"u8);
        WriteScore(output, walk);
    }

    /// <summary>Inserts the score into the metadata, which is the last member of each result.</summary>
    private static void WriteScore(IResultBuffer output, QueryWalk walk)
    {
        if (walk.Score is { } score)
        {
            output.Truncate(output.Length - "}}".Length);
            output.Write(",\"@index-score\":"u8);
            CompiledQuery.WriteScore(score, output);
            output.Write("}}"u8);
        }
    }

    public void Dispose() => scripted?.Dispose();
}
