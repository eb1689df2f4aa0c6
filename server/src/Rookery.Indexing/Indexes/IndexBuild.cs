using System.Text;
using Rookery.Documents.Databases;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// The first walk of indexes over all documents, in the order of ids, which is how documents lie. What is written
/// meanwhile comes again when the changes after <see cref="StartEtag"/> are followed. A restart begins it anew.
/// </summary>
internal sealed class IndexBuild
{
    private readonly Database _database;
    private readonly byte[] _historyId;
    private byte[] _afterId = [];

    /// <summary>Begins with the first document.</summary>
    public IndexBuild(Database database, IEnumerable<RunningIndex> indexes)
    {
        using var reader = database.OpenReader();
        (_database, _historyId, StartEtag) = (database, Encoding.ASCII.GetBytes(database.HistoryId), reader.Sequence);
        Total = reader.ReadStatistics().Documents;
        Indexes = [.. indexes];
    }

    private IndexBuild(IndexBuild other, RunningIndex index)
    {
        (_database, _historyId, StartEtag, Total, Walked, _afterId) = (
            other._database,
            other._historyId,
            other.StartEtag,
            other.Total,
            other.Walked,
            [.. other._afterId]
        );
        Indexes = [index];
    }

    /// <summary>The etag from which on changes have to be followed when the walk is over.</summary>
    public long StartEtag { get; }

    /// <summary>The indexes that walk together.</summary>
    public List<RunningIndex> Indexes { get; }

    /// <summary>Documents that there were when it began.</summary>
    public long Total { get; }

    /// <summary>Documents that were walked over.</summary>
    public long Walked { get; private set; }

    /// <summary>Lets an index walk on by itself, because it stops and the others do not.</summary>
    public IndexBuild SplitOff(RunningIndex index)
    {
        Indexes.Remove(index);
        return new IndexBuild(this, index);
    }

    /// <summary>Walks over some documents.</summary>
    /// <param name="options">How many.</param>
    /// <param name="pendingBytes">What an index may gather before it writes, in bytes: no more documents then.</param>
    /// <param name="read">Documents that were read.</param>
    /// <returns>Whether the walk is at its end.</returns>
    public bool Step(IndexFeederOptions options, long pendingBytes, out long read)
    {
        Span<byte> collection = stackalloc byte[LowerNames.RoomBytes];
        Span<byte> id = stackalloc byte[LowerNames.RoomBytes];
        using var reader = _database.OpenReader();
        using var documents = reader.ByIdPrefix([], _afterId);
        long bytes = 0;
        for (
            read = 0;
            read < options.DocumentsPerStep
                && bytes < options.BytesPerStep
                && !RunningIndex.IsFull(Indexes, pendingBytes);
            read++
        )
        {
            if (!documents.MoveNext())
            {
                Walked += read;
                return true;
            }

            bytes += documents.Length;
            var view = documents.View;
            var document = new QueriedDocument(view, documents.Etag, _historyId);
            var lowerId = LowerNames.Id(view.Id, id);
            var lowerCollection = LowerNames.Collection(view.Collection, collection);
            foreach (var index in Indexes)
            {
                if (index.Concerns(lowerCollection))
                {
                    index.Feed(lowerId, document);
                }
            }

            _afterId = KeepId(lowerId);
        }

        Walked += read;
        return false;
    }

    // Only the last of a step is needed, but which that is shows the next move.
    private byte[] KeepId(ReadOnlySpan<byte> lowerId)
    {
        if (_afterId.Length == lowerId.Length)
        {
            lowerId.CopyTo(_afterId);
            return _afterId;
        }

        return lowerId.ToArray();
    }
}
