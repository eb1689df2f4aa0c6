using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Indexing.Mapping;
using Rookery.Scripting.Running;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Loads documents for a map in their current version. Records their ids in the entry, including those of missing
/// documents. Not thread-safe.
/// </summary>
/// <param name="database">The database of the documents.</param>
/// <param name="collections">The collections that the maps name. As in RavenDB, documents of other collections are
/// loaded, too.</param>
internal sealed class TrackedLoads(Database database, IReadOnlyList<string> collections) : IScriptDocuments
{
    private readonly byte[][] _lowerCollections = [.. collections.Select(LowerNames.Collection)];

    /// <summary>The entry that records the loaded ids.</summary>
    public IndexEntry? Entry { get; set; }

    /// <inheritdoc/>
    public void Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver)
    {
        if (!DocumentId.TryValidate(id, out _))
        {
            return;
        }

        Span<byte> room = stackalloc byte[LowerNames.RoomBytes];
        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(id, out var document))
        {
            // The missing document may later be created in any collection.
            Entry!.AddLoaded(LowerNames.Id(id, room), isElsewhere: true);
            return;
        }

        using (document)
        {
            bool isElsewhere = !LowerNames.Contains(
                _lowerCollections,
                LowerNames.Collection(document.View.Collection, room)
            );
            Entry!.AddLoaded(LowerNames.Id(id, room), isElsewhere);
            receiver(document.View.ToScript());
        }
    }
}
