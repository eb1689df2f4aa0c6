using Rookery.Documents.Apply;
using Rookery.Platform;

namespace Rookery.Documents.Revisions;

/// <summary>Stores the whole content of revisions whose rows are differences from other versions.</summary>
internal static class WholeRevision
{
    /// <summary>Replaces the row of a revision by one with its whole content.</summary>
    /// <param name="context">The command.</param>
    /// <param name="source">The rows.</param>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="revision">The revision, which has a row.</param>
    /// <param name="content">Its content.</param>
    /// <param name="buffer">Room for the row's head.</param>
    public static void Store(
        ApplyContext context,
        in RevisionSource source,
        ReadOnlySpan<byte> lowerId,
        in PeekedRevision revision,
        ReadOnlySpan<byte> content,
        PooledBytes buffer
    )
    {
        Invariant.Holds(source.TryGetRevision(lowerId, revision.Etag, out var row), "a row that was read is there");
        using (var bytes = new RevisionBytes(row))
        {
            buffer.Clear();
            RevisionRow.WritePrefix(
                buffer.Reserve(RevisionRow.PrefixBytes),
                isDelta: false,
                revision.IsForced ? RevisionFlags.IsForced : RevisionFlags.None
            );
            buffer.Advance(RevisionRow.PrefixBytes);
            buffer.Append(new RevisionRow(bytes.Span).Head);
            context.Batch.ReleaseLarge(row, context.Etag);
        }

        Span<byte> key = stackalloc byte[Key.MaxBytes];
        context.Batch.Put(
            Key.WriteRevision(key, context.Database.Number, lowerId, revision.Etag),
            context.Etag,
            buffer.Written,
            content
        );
    }
}
