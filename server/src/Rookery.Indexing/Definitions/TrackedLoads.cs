using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Indexing.Mapping;
using Rookery.Platform;
using Rookery.Scripting.Running;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Loads documents for a map. Records their ids in the entry, including those of missing
/// documents. Not thread-safe.
/// </summary>
/// <param name="database">The database of the documents.</param>
/// <param name="collections">The collections that the maps name. As in RavenDB, documents of other collections are
/// loaded, too.</param>
internal sealed class TrackedLoads(Database database, IReadOnlyList<string> collections) : IScriptDocuments
{
    // Maps over counters run once for each counter of a document, and each run may load documents.
    private const int MaxLoads = 4096;

    // Up to this number of loads, the entry itself is searched, which allocates nothing.
    private const int ComparedLoads = 8;

    // The loads of an entry with more loads: documents of the named collections, then documents of others. The maps of
    // the counters of a document often load the same documents in turn.
    private readonly HashSet<byte[]>[] _recorded = [new(BytesComparer.Instance), new(BytesComparer.Instance)];
    private int _recordedCount;

    private readonly byte[][] _lowerCollections = [.. collections.Select(LowerNames.Collection)];

    /// <summary>The entry that records the loaded ids.</summary>
    public IndexEntry? Entry
    {
        get;
        set
        {
            field = value;
            _recordedCount = 0;
            Array.ForEach(_recorded, static ids => ids.Clear());
        }
    }

    /// <summary>The snapshot that documents are loaded from; null for the newest one.</summary>
    public DatabaseReader? Source { get; set; }

    /// <inheritdoc/>
    public void Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver)
    {
        if (!DocumentId.TryValidate(id, out _))
        {
            return;
        }

        if (Source is { } source)
        {
            Load(source, id, receiver);
            return;
        }

        using var newest = database.OpenReader();
        Load(newest, id, receiver);
    }

    private void Load(in DatabaseReader reader, ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver)
    {
        Span<byte> room = stackalloc byte[LowerNames.RoomBytes];
        if (!reader.TryGetDocument(id, out var document))
        {
            // The missing document may later be created in any collection.
            Record(LowerNames.Id(id, room), isElsewhere: true);
            return;
        }

        using (document)
        {
            bool isElsewhere = !LowerNames.Contains(
                _lowerCollections,
                LowerNames.Collection(document.View.Collection, room)
            );
            Record(LowerNames.Id(id, room), isElsewhere);
            receiver(document.View.ToScript());
        }
    }

    private void Record(ReadOnlySpan<byte> lowerId, bool isElsewhere)
    {
        if (IsRecorded(lowerId, isElsewhere))
        {
            return;
        }

        if (Entry!.LoadedCount == MaxLoads)
        {
            throw new IndexEntryException($"The maps load more than {MaxLoads} documents for one document.");
        }

        Entry.AddLoaded(lowerId, isElsewhere);
    }

    private bool IsRecorded(ReadOnlySpan<byte> lowerId, bool isElsewhere)
    {
        if (Entry!.LoadedCount <= ComparedLoads)
        {
            for (int i = 0; i < Entry.LoadedCount; i++)
            {
                if (Entry.IsLoadedElsewhere(i) == isElsewhere && Entry.Loaded(i).SequenceEqual(lowerId))
                {
                    return true;
                }
            }

            return false;
        }

        for (; _recordedCount < Entry.LoadedCount; _recordedCount++)
        {
            IdsOf(Entry.IsLoadedElsewhere(_recordedCount)).Add(Entry.Loaded(_recordedCount));
        }

        return IdsOf(isElsewhere).Contains(lowerId);
    }

    private HashSet<byte[]>.AlternateLookup<ReadOnlySpan<byte>> IdsOf(bool isElsewhere) =>
        _recorded[isElsewhere ? 1 : 0].GetAlternateLookup<ReadOnlySpan<byte>>();
}
