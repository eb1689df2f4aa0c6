using Rookery.Documents.Revisions;
using Rookery.Documents.Stored;
using Rookery.Storage;

namespace Rookery.Documents.Apply;

/// <summary>
/// Lets merges drop rows that readers skip: rows in the tables by etag and by collection whose document was deleted or
/// has another etag, counters whose document was deleted, and rows by etag of counters that changed again and of
/// revisions that were removed.
/// </summary>
internal sealed class StaleRowFilter : IMergeFilter
{
    /// <inheritdoc/>
    public bool Concerns(byte table) =>
        table
            is Table.ByEtag
                or Table.ByCollection
                or Table.DocumentCounters
                or Table.CountersByEtag
                or Table.RevisionsByEtag;

    /// <inheritdoc/>
    public bool IsStale(ReadOnlySpan<byte> key, long sequence, ReadOnlySpan<byte> value, in Snapshot snapshot)
    {
        if (Key.TableOf(key) == Table.DocumentCounters)
        {
            return sequence <= snapshot.Sequence && !HasOwner(Key.DatabaseOf(key), Key.TextOf(key), sequence, snapshot);
        }

        if (Key.TableOf(key) == Table.CountersByEtag)
        {
            return sequence <= snapshot.Sequence && !IsOfCounter(Key.DatabaseOf(key), value, sequence, snapshot);
        }

        if (Key.TableOf(key) == Table.RevisionsByEtag)
        {
            return sequence <= snapshot.Sequence && !HasRevision(key, value, snapshot);
        }

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

    private static bool HasRevision(ReadOnlySpan<byte> key, ReadOnlySpan<byte> lowerId, in Snapshot snapshot)
    {
        var source = new RevisionSource(snapshot, Key.DatabaseOf(key));
        if (!source.TryGetRevision(lowerId, Key.NumberOf(key), out var row))
        {
            return false;
        }

        row.Dispose();
        return true;
    }

    private static bool IsOfCounter(uint database, ReadOnlySpan<byte> counter, long sequence, in Snapshot snapshot)
    {
        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        if (!snapshot.TryGet(Key.WriteText(key, database, Table.DocumentCounters, counter), out var row))
        {
            return false;
        }

        using (row)
        {
            return row.Sequence == sequence && HasOwner(database, counter, sequence, snapshot);
        }
    }

    // If a merge drops the row, readers find the next older row of the counter. It has no owner either, because its
    // sequence is lower.
    private static bool HasOwner(uint database, ReadOnlySpan<byte> counter, long sequence, in Snapshot snapshot)
    {
        Span<byte> document = stackalloc byte[Key.MaxBytes];
        var id = counter[..counter.IndexOf((byte)0)];
        if (!snapshot.TryGet(Key.WriteText(document, database, Table.Documents, id), out var row))
        {
            return false;
        }

        using (row)
        {
            return DocumentCounters.Owns(DocumentCounters.ReadSince(row), sequence);
        }
    }
}
