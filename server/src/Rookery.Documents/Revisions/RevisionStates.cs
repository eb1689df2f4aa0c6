using Rookery.Documents.Apply;
using Rookery.Documents.Databases;
using Rookery.Storage;

namespace Rookery.Documents.Revisions;

/// <summary>Reads and writes the rows with the states of revisions, within a command that is applied.</summary>
internal static class RevisionStates
{
    /// <summary>Finds the state of a document's revisions.</summary>
    public static RevisionState Find(ApplyContext context, ReadOnlySpan<byte> lowerId, in Document document) =>
        document.Exists && document.Head.Revisions.IsEmpty ? default : Find(context, lowerId);

    /// <summary>Finds the state of an id's revisions.</summary>
    public static RevisionState Find(ApplyContext context, ReadOnlySpan<byte> lowerId)
    {
        try
        {
            return SourceOf(context).ReadState(lowerId);
        }
        catch (DamagedException) when (context.TreatsDamagedAsMissing)
        {
            return default;
        }
    }

    /// <summary>The rows of the database of a command.</summary>
    public static RevisionSource SourceOf(ApplyContext context) => new(context.Batch, context.Database.Number);

    /// <summary>Stores the state of an id's revisions, or removes it if there are none.</summary>
    public static void Write(ApplyContext context, ReadOnlySpan<byte> lowerId, RevisionState state, bool hadState)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        var row = Key.WriteText(key, context.Database.Number, Table.RevisionStates, lowerId);
        if (state.Count != 0)
        {
            Span<byte> value = stackalloc byte[RevisionState.MaxBytes];
            context.Batch.Put(row, context.Etag, state.Write(value));
        }
        else if (hadState)
        {
            context.Batch.Delete(row, context.Etag);
        }
    }
}
