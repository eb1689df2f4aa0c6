using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// Lets merges drop rows by etag and by collection whose document was deleted or has another etag. Readers skip such
/// rows too.
/// </summary>
internal sealed class StaleOrderFilter : IMergeFilter
{
    /// <inheritdoc/>
    public bool Concerns(byte table) => table is Table.ByEtag or Table.ByCollection;

    /// <inheritdoc/>
    public bool IsStale(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> value, in Snapshot snapshot)
    {
        Span<byte> document = stackalloc byte[Key.MaxBytes];
        if (!snapshot.TryGet(Key.WriteText(document, Key.DatabaseOf(key), Table.Documents, value), out var row))
        {
            return true;
        }

        using (row)
        {
            // A row that is newer than this snapshot is not stale.
            return row.Sequence != sequence && sequence <= snapshot.Sequence;
        }
    }
}
