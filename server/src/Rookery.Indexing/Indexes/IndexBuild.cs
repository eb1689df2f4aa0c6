using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Schedules;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// The first build of new indexes: feeds them all documents, in the order of ids, which is the order on disk.
/// Afterwards the indexes follow the changes after <see cref="StartEtag"/>, so documents written during the walk are
/// indexed again. A restart of the node starts the walk over.
/// </summary>
internal sealed class IndexBuild
{
    private readonly Database _database;
    private readonly byte[] _historyId;
    private byte[] _afterId = [];

    /// <summary>Starts before the first document.</summary>
    public IndexBuild(Database database, IEnumerable<RunningIndex> indexes)
    {
        using var reader = database.OpenReader();
        _database = database;
        _historyId = Encoding.ASCII.GetBytes(database.HistoryId);
        StartEtag = reader.Sequence;
        Total = reader.ReadStatistics().Documents;
        Indexes = [.. indexes];
    }

    private IndexBuild(IndexBuild other, RunningIndex index)
    {
        _database = other._database;
        _historyId = other._historyId;
        _afterId = [.. other._afterId];
        StartEtag = other.StartEtag;
        Total = other.Total;
        Walked = other.Walked;
        Indexes = [index];
    }

    /// <summary>
    /// The last etag at the start of the walk. After the walk, the indexes follow the changes after this etag.
    /// </summary>
    public long StartEtag { get; }

    /// <summary>The indexes that share the walk.</summary>
    public List<RunningIndex> Indexes { get; }

    /// <summary>Number of documents when the walk began.</summary>
    public long Total { get; }

    /// <summary>Number of documents read so far.</summary>
    public long Walked { get; private set; }

    /// <summary>
    /// Moves one index into a walk of its own, because that index has stopped and the others have not.
    /// </summary>
    public IndexBuild SplitOff(RunningIndex index)
    {
        Indexes.Remove(index);
        return new IndexBuild(this, index);
    }

    /// <summary>Reads some documents and feeds them to the indexes.</summary>
    /// <param name="options">Bounds the documents and bytes of one step.</param>
    /// <param name="pendingBytes">Bytes that an index may buffer before it writes. The step ends when an index has
    /// buffered this many.</param>
    /// <param name="read">Number of documents read.</param>
    /// <returns>Whether all documents are read.</returns>
    public bool Step(IndexFeederOptions options, long pendingBytes, out long read)
    {
        Span<byte> collection = stackalloc byte[LowerNames.RoomBytes];
        Span<byte> id = stackalloc byte[LowerNames.RoomBytes];
        using var reader = _database.OpenReader();
        Indexes.ForEach(index => index.RecordRead(reader.Sequence));
        using var documents = reader.SeekByIdPrefix([], _afterId);
        using var loads = new LoadSource(Indexes, reader);
        long bytes = 0;
        for (
            read = 0;
            read < options.DocumentsPerStep && bytes < options.BytesPerStep && !IsFull(Indexes, pendingBytes);
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
            bool isArchived = ScheduledTimes.IsArchived(view.Metadata);
            foreach (var index in Indexes)
            {
                if (!isArchived && index.Concerns(lowerCollection))
                {
                    index.Feed(lowerId, document);
                }
            }

            _afterId = CopyId(lowerId);
        }

        Walked += read;
        return false;
    }

    // Copies the id of a document, because the document may be the last of the step. Reuses the array of the previous
    // id if the lengths are equal, so that few documents allocate one.
    private byte[] CopyId(ReadOnlySpan<byte> lowerId)
    {
        if (_afterId.Length == lowerId.Length)
        {
            lowerId.CopyTo(_afterId);
            return _afterId;
        }

        return lowerId.ToArray();
    }

    /// <summary>Returns whether one of the indexes has buffered so much that it must write.</summary>
    /// <param name="indexes">The indexes.</param>
    /// <param name="pendingBytes">The bound, in bytes.</param>
    public static bool IsFull(List<RunningIndex> indexes, long pendingBytes)
    {
        foreach (var index in indexes)
        {
            if (index.Store.PendingBytes >= pendingBytes)
            {
                return true;
            }
        }

        return false;
    }
}
