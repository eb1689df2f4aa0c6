using Rookery.Documents.Apply;
using Rookery.Documents.Ids;
using Rookery.Documents.Stored;

namespace Rookery.Documents.Databases;

/// <summary>Reads counters together with their documents, in one snapshot.</summary>
public static class CountersOfDocuments
{
    /// <summary>Reads the value of a counter of a document; null if its row is missing.</summary>
    /// <param name="reader">The snapshot.</param>
    /// <param name="document">The document, of this snapshot.</param>
    /// <param name="names">The names of the document's counters, at the counter.</param>
    public static long? ReadCounter(
        this in DatabaseReader reader,
        scoped in DocumentView document,
        scoped CounterNames names
    )
    {
        Span<byte> lowerId = stackalloc byte[DocumentId.MaxBytes];
        Span<byte> lowerName = stackalloc byte[CounterName.MaxBytes];
        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        var id = lowerId[..DocumentId.ToLower(document.Id, lowerId)];
        var name = lowerName[..names.WriteLower(lowerName)];
        if (!reader.Snapshot.TryGet(Key.WriteCounter(key, reader.Database.Number, id, name), out var row))
        {
            return null;
        }

        using (row)
        {
            return DocumentCounters.Owns(document.Counters.Since, row.Sequence) ? CounterValue.Read(row.Value) : null;
        }
    }

    /// <summary>
    /// Finds the document of a counter that changed at an etag. False if the counter changed again or does not exist,
    /// or if its document was stored at that etag or later.
    /// </summary>
    /// <param name="reader">The snapshot.</param>
    /// <param name="counter">A value of <see cref="Table.CountersByEtag"/>.</param>
    /// <param name="etag">The etag.</param>
    /// <param name="document">The document; dispose it after use.</param>
    internal static bool TryGetDocumentOfCounter(
        this in DatabaseReader reader,
        ReadOnlySpan<byte> counter,
        long etag,
        out Document document
    )
    {
        Span<byte> key = stackalloc byte[Key.MaxCounterBytes];
        document = default;
        if (
            !reader.Snapshot.TryGet(
                Key.WriteText(key, reader.Database.Number, Table.DocumentCounters, counter),
                out var row
            )
        )
        {
            return false;
        }

        using (row)
        {
            if (row.Sequence != etag || !reader.TryGetByLowerId(counter[..counter.IndexOf((byte)0)], out document))
            {
                return false;
            }
        }

        if (document.Etag < etag && DocumentCounters.Owns(document.Head.Counters.Since, etag))
        {
            return true;
        }

        document.Dispose();
        document = default;
        return false;
    }
}
