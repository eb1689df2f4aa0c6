using Rookery.Documents;
using Rookery.Documents.Ids;
using Rookery.Documents.Scripting;
using Rookery.Indexing.Indexes;

namespace Rookery.Indexing.Definitions;

/// <summary>Finds the documents that a map loads, as they are now, and notes their ids, also of those that are not there. One thread at a time.</summary>
/// <param name="database">Whose documents they are.</param>
internal sealed class TrackedLoads(Database database) : IScriptDocuments
{
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
        Entry!.AddLoaded(LowerNames.Id(id, room));
        using var reader = database.OpenReader();
        if (reader.TryGetDocument(id, out var document))
        {
            using (document)
            {
                receiver(document.View, default);
            }
        }
    }
}
