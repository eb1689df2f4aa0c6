using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// Rows by etag and by collection are stale when their document has another etag now, or is gone. Readers see that too;
/// compaction drops them.
/// </summary>
internal sealed class StaleOrderFilter : ICompactionFilter
{
    /// <inheritdoc/>
    public bool Concerns(byte table) => table is Table.ByEtag or Table.ByCollection;

    /// <inheritdoc/>
    public bool IsStale(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> value, in Snapshot snapshot)
    {
        Span<byte> document = stackalloc byte[Key.MaxBytes];
        if (!snapshot.TryGet(Key.Text(document, Key.DatabaseOf(key), Table.Documents, value), out var row))
        {
            return true;
        }

        using (row)
        {
            // A newer row than this snapshot knows is not stale.
            return row.Sequence != sequence && sequence <= snapshot.Sequence;
        }
    }
}
