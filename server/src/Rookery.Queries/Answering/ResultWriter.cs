using System.Buffers;
using System.Text;
using Rookery.Documents.Databases;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>
/// Writes the document of a walk as the result of a query: whole, its metadata, or what the query selects of it.
/// </summary>
/// <param name="database">Whose it is.</param>
/// <param name="plan">The plan of a query that selects fields; null for whole documents.</param>
/// <param name="metadataOnly">Whether of a whole document only the metadata is wanted.</param>
/// <param name="hasIncludes">Whether its references are followed as well.</param>
/// <param name="scripted">Makes the results of a query that selects by a script; null where none does. It is disposed
/// with this.</param>
/// <param name="clock">Is asked while a result is put together; null for whole documents.</param>
internal sealed class ResultWriter(
    Database database,
    ScanPlan? plan,
    bool metadataOnly,
    bool hasIncludes,
    ScriptedResults? scripted = null,
    IScanClock? clock = null
) : IDisposable
{
    // A selection may name a large field several times, but not any number of times.
    private const int FreeBytes = 64 << 10;
    private readonly byte[] _historyId = Encoding.ASCII.GetBytes(database.HistoryId);

    /// <summary>Makes the results of a query that selects by a script; null where none does.</summary>
    public ScriptedResults? Scripted => scripted;

    /// <summary>
    /// Gives the row that an index holds, by the place of its document in the walk, where a selection reads from there;
    /// null where it reads documents.
    /// </summary>
    public Func<int, ReadOnlyMemory<byte>>? RowOf { get; set; }

    /// <summary>The document at hand, as conditions read it.</summary>
    public QueriedDocument Queried(QueryWalk walk) => new(walk.View, walk.Etag, _historyId) { Score = walk.Score ?? 0 };

    /// <summary>Memory that reading and writing a document of so many bytes takes at most.</summary>
    public long BytesFor(long documentBytes) =>
        hasIncludes || plan is { GivesDocuments: false } ? 3 * documentBytes : documentBytes;

    /// <summary>Writes the document at hand.</summary>
    /// <exception cref="QueryException">What the query selects of it is much larger than it.</exception>
    public void Write(IResultBuffer output, QueryWalk walk)
    {
        if (plan is not { GivesDocuments: false })
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
        var row = RowOf is null ? default : RowOf(walk.Place);
        plan.WriteMembers(
            RowOf is null ? Queried(walk) : Queried(walk).WithRow(row.Span),
            new BoundedBuffer(output, FreeBytes + (2 * (walk.Length + row.Length))),
            clock
        );
        output.Write(
            output.Length == start
                ? "\"@metadata\":{\"@projection\":true,\"@id\":"u8
                : ",\"@metadata\":{\"@projection\":true,\"@id\":"u8
        );
        JsonText.WriteString(output, walk.Head.Id);
        output.Write("}}"u8);
        WriteScore(output, walk);
    }

    /// <summary>Adds a score to the metadata, with which each result ends.</summary>
    private static void WriteScore(IResultBuffer output, QueryWalk walk)
    {
        if (walk.Score is { } score)
        {
            output.Truncate(output.Length - "}}".Length);
            output.Write(",\"@index-score\":"u8);
            ScanPlan.WriteScore(score, output);
            output.Write("}}"u8);
        }
    }

    public void Dispose() => scripted?.Dispose();

    private sealed class BoundedBuffer(IResultBuffer output, long bytes) : IBufferWriter<byte>
    {
        private readonly int _start = output.Length;

        public void Advance(int count) => output.Advance(count);

        public Memory<byte> GetMemory(int sizeHint = 0)
        {
            Check(sizeHint);
            return output.GetMemory(sizeHint);
        }

        public Span<byte> GetSpan(int sizeHint = 0)
        {
            Check(sizeHint);
            return output.GetSpan(sizeHint);
        }

        private void Check(int more)
        {
            if (output.Length - _start + (long)more > bytes)
            {
                throw new QueryException(
                    QueryFault.TooCostly,
                    "What the query selects of a document is more than twice as large as the document: select "
                        + "large fields once."
                );
            }
        }
    }
}
