using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Indexing.Mapping;
using Rookery.Scripting.Running;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Finds the documents that a map loads, as they are now, and notes their ids, also of those that are not there. One
/// thread at a time.
/// </summary>
/// <param name="database">Whose documents they are.</param>
/// <param name="collections">The collections that the maps name. As in RavenDB a document of another one is found,
/// too.</param>
internal sealed class TrackedLoads(Database database, IReadOnlyList<string> collections) : IScriptDocuments
{
    private readonly byte[][] _lowerCollections = [.. collections.Select(LowerNames.Collection)];

    /// <summary>What takes the ids.</summary>
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
