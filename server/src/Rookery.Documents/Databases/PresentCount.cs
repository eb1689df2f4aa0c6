using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// Counts the documents that clients find: of a database, or of one collection. Subtracts those that have expired from
/// the stored ones, so it reads one row for each, and its document for a collection. If one of these is damaged, it
/// reads all documents instead. The caller may pause the count after each row. One thread at a time.
/// </summary>
/// <param name="collection">The collection, in any casing; <c>@empty</c> for the documents without one; null for all
/// documents.</param>
public sealed class PresentCount(string? collection) : IDisposable
{
    private readonly byte[] _name = Encoding.UTF8.GetBytes(collection ?? "");
    private readonly byte[] _lastKey = new byte[Key.MaxBytes];
    private int _lastKeyLength;
    private bool _isBegun;
    private DocumentCursor? _documents; // reads all documents after damage

    /// <summary>The number of documents. Final when <see cref="Continue"/> has returned true.</summary>
    public long Value { get; private set; }

    /// <summary>Begins or continues the count. Holds no blocks after it has returned.</summary>
    /// <param name="reader">The snapshot. It may be another one of the database at each call.</param>
    /// <param name="interrupts">Called after each row. If it returns true, the call ends.</param>
    /// <returns>Whether the count is complete.</returns>
    /// <exception cref="DamagedException">Documents are damaged.</exception>
    /// <exception cref="SnapshotEndedException">The snapshot pins too much memory or too many files.</exception>
    public bool Continue(in DatabaseReader reader, Func<bool> interrupts)
    {
        if (!_isBegun)
        {
            _isBegun = true;
            Value = CountStored(reader, collection);
        }

        if (_documents is not null)
        {
            return TryCountAll(reader, interrupts);
        }

        try
        {
            return reader.Hidden.Ticks == 0 || Value == 0 || TrySubtractExpired(reader, interrupts);
        }
        catch (DamagedException)
        {
            return TryCountAll(reader, interrupts);
        }
    }

    /// <summary>Counts the stored documents, also those that have expired. Reads no documents.</summary>
    /// <param name="reader">The snapshot.</param>
    /// <param name="collection">The collection, in any casing; null for all documents.</param>
    public static long CountStored(in DatabaseReader reader, string? collection)
    {
        if (collection is null)
        {
            return reader.ReadStatistics().Documents;
        }

        foreach (var counted in reader.ReadCollections())
        {
            if (IgnoredCase.OfCollections.Equals(counted.Name, collection))
            {
                return counted.Documents;
            }
        }

        return 0;
    }

    /// <inheritdoc/>
    public void Dispose() => _documents?.Dispose();

    private bool TrySubtractExpired(in DatabaseReader reader, Func<bool> interrupts)
    {
        // A collection with documents has a name of a valid length.
        Span<byte> lower = stackalloc byte[DocumentLimits.MaxCollectionBytes];
        var lowerName = collection is null ? default : lower[..Key.LowerCollection(_name, lower)];
        using var rows = ExpiredDocuments.SeekHidden(reader, _lastKey.AsSpan(0, _lastKeyLength));
        while (rows.MoveNext())
        {
            reader.ThrowIfEnded();
            Value -= collection is null || IsIn(reader, lowerName, rows) ? 1 : 0;
            if (interrupts())
            {
                rows.Key.CopyTo(_lastKey);
                _lastKeyLength = rows.Key.Length;
                return false;
            }
        }

        return true;
    }

    private static bool IsIn(in DatabaseReader reader, ReadOnlySpan<byte> lowerName, RowCursor expiry)
    {
        if (!reader.TryGetVersion(expiry.Value, expiry.Sequence, out var document))
        {
            return false;
        }

        using (document)
        {
            Span<byte> lower = stackalloc byte[DocumentLimits.MaxCollectionBytes];
            return lower[..Key.LowerCollection(document.Head.Collection, lower)].SequenceEqual(lowerName);
        }
    }

    private bool TryCountAll(in DatabaseReader reader, Func<bool> interrupts)
    {
        if (_documents is null)
        {
            Value = 0;
            _documents = collection is null ? reader.SeekByEtag(afterEtag: 0) : reader.SeekByCollection(_name);
        }
        else
        {
            _documents.ContinueIn(reader);
        }

        while (_documents.MoveNext(out bool isPresent))
        {
            Value += isPresent ? 1 : 0;
            if (interrupts())
            {
                _documents.Pause();
                return false;
            }
        }

        return true;
    }
}
