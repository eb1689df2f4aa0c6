using Rookery.Indexing.Mapping;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// The documents of an index that must be mapped again because a document that they loaded changed. Used by the
/// indexing thread.
/// </summary>
/// <param name="store">The store of the index, which tracks loads if the index loads documents.</param>
/// <param name="loadedCollections">The collections that the index loads documents of; empty if it loads none.</param>
internal sealed class DependentDocuments(IIndexStore store, IEnumerable<string> loadedCollections) : IDisposable
{
    private readonly byte[][] _lowerLoaded = [.. loadedCollections.Select(LowerNames.Collection)];
    private readonly List<ChangedLoad> _changed = [];
    private IEnumerator<byte[]>? _ids;
    private byte[]? _peeked;

    /// <summary>Whether some dependent documents have not been fed yet.</summary>
    public bool HasAny => _ids is not null || _changed.Count > 0;

    /// <summary>Records that a document changed or was deleted. Does nothing if the index loads no documents.</summary>
    /// <param name="lowerCollection">The collection of the document, lower-cased by <see cref="LowerNames"/>.</param>
    /// <param name="lowerId">The lower-cased id.</param>
    public void AddChanged(ReadOnlySpan<byte> lowerCollection, ReadOnlySpan<byte> lowerId)
    {
        if (_lowerLoaded.Length > 0)
        {
            _changed.Add(new ChangedLoad(lowerId.ToArray(), !LowerNames.Contains(_lowerLoaded, lowerCollection)));
        }
    }

    /// <summary>
    /// Returns the lower-cased id of the next dependent document; null if none is left. Returns the same id until
    /// <see cref="Skip"/> is called. If files of the index are damaged, throws an exception that
    /// <see cref="IndexDamage.Is"/> recognises.
    /// </summary>
    public byte[]? Peek() => _peeked ??= ReadNext();

    /// <summary>Moves past the document that <see cref="Peek"/> returned.</summary>
    public void Skip() => _peeked = null;

    /// <inheritdoc/>
    public void Dispose()
    {
        _ids?.Dispose();
        _ids = null;
    }

    private byte[]? ReadNext()
    {
        _ids ??= ((LoadTrackingStore)store).DependentsOf([.. _changed]).GetEnumerator();
        _changed.Clear();
        if (_ids.MoveNext())
        {
            return _ids.Current;
        }

        Dispose();
        return null;
    }
}
