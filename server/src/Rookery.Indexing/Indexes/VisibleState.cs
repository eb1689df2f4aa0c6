using Rookery.Documents.Databases;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// The state of an index that queries search. It is consistent: it reflects exactly the documents of one snapshot of
/// the database. Between two consistent states, the index may have to write entries, because memory is short. Then the
/// last consistent state is kept open until the next one is written. The indexing thread changes the state; any thread
/// may open it.
/// </summary>
/// <param name="store">The store of the index.</param>
/// <param name="time">The clock.</param>
/// <param name="isPartial">Whether the state of the store may include changes that the documents lack.</param>
internal sealed class VisibleState(IIndexStore store, TimeProvider time, bool isPartial) : IDisposable
{
    // How long a snapshot is held for queries. While clients write, the snapshot of the next state replaces it sooner.
    private static readonly TimeSpan DocumentsAge = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();
    private PublishedIndex _published = new(store.Watermark, isPartial, store.Documents, LastIndexed: null);
    private IndexSnapshot? _kept;

    // The snapshot that the visible state reflects, and the one that the state with the buffered entries reflects.
    private PassSnapshot? _documents;
    private PassSnapshot? _nextDocuments;
    private long _documentsSince;
    private bool _isDisposed;

    /// <summary>What is known of the state.</summary>
    public PublishedIndex Published => Volatile.Read(ref _published);

    /// <summary>
    /// Number of documents in the state. While the index is first built, the number of documents written so far.
    /// </summary>
    public long Documents => Published is { Etag: > 0, Documents: var documents } ? documents : store.Documents;

    /// <summary>
    /// Whether the state is kept open although the store has newer entries. A merge would then double the files.
    /// </summary>
    public bool IsKept => _kept is not null;

    /// <summary>Whether a snapshot of the database is held for queries.</summary>
    public bool HoldsDocuments => _documents is not null || _nextDocuments is not null;

    /// <summary>Opens the state. Thread-safe.</summary>
    /// <param name="published">What is known of the state.</param>
    /// <exception cref="ObjectDisposedException">The index was closed, because another replaces it or the node
    /// stops.</exception>
    public IndexSnapshot Open(out PublishedIndex published)
    {
        lock (_gate)
        {
            published = _published;
            return OpenInGate();
        }
    }

    /// <summary>Opens the state and the snapshot of the documents that it reflects. Thread-safe.</summary>
    /// <param name="published">What is known of the state.</param>
    /// <param name="documents">The snapshot, which the caller disposes; null if it was released.</param>
    /// <exception cref="ObjectDisposedException">As <see cref="Open(out PublishedIndex)"/>.</exception>
    /// <exception cref="DatabaseGoneException">The database was deleted or replaced.</exception>
    public IndexSnapshot Open(out PublishedIndex published, out DatabaseReader? documents)
    {
        lock (_gate)
        {
            var snapshot = OpenInGate();
            try
            {
                published = _published;
                documents = _documents?.TryShare();
                return snapshot;
            }
            catch
            {
                snapshot.Dispose();
                throw;
            }
        }
    }

    /// <summary>Sets the snapshot that the index, with its buffered entries, now reflects.</summary>
    /// <param name="documents">The snapshot; null if none is known.</param>
    public void SetNextDocuments(PassSnapshot? documents)
    {
        documents?.Hold();
        _nextDocuments?.Release();
        _nextDocuments = documents;
        _documentsSince = time.GetTimestamp();
    }

    /// <summary>Releases the snapshots of the database that are old, or that the node ended.</summary>
    public void ReleaseOldDocuments()
    {
        if (!HoldsDocuments)
        {
            return;
        }

        bool isOld = time.GetElapsedTime(_documentsSince) >= DocumentsAge;
        if (isOld || _nextDocuments is { IsEnded: true })
        {
            _nextDocuments?.Release();
            _nextDocuments = null;
        }

        if (isOld || _documents is { IsEnded: true })
        {
            Replace(kept: _kept, documents: null, Published)?.Release();
        }
    }

    /// <summary>
    /// Keeps the state open until the next <see cref="Advance"/>. Call it before entries are written, so that queries
    /// see the entries only as a part of the next consistent state, together with its documents.
    /// </summary>
    public void Keep()
    {
        if (Published.Etag > 0 && !IsKept)
        {
            Replace(kept: store.OpenSnapshot(), _documents, Published);
        }
    }

    /// <summary>Makes what the store has written the visible state.</summary>
    /// <param name="etag">The etag through which it includes changes.</param>
    /// <param name="isPartial">Whether it includes a part of later changes.</param>
    /// <param name="lastIndexed">When it was written; null if it was written before the node started.</param>
    public void Advance(long etag, bool isPartial, DateTimeOffset? lastIndexed)
    {
        // If neither the etag changed nor entries were written, the state still reflects the same snapshot.
        var kept = _kept;
        bool areSameDocuments = !isPartial && kept is null && _nextDocuments is null && etag == Published.Etag;
        var documents = areSameDocuments ? _documents : _nextDocuments;
        if (isPartial)
        {
            documents?.Release();
            documents = null;
        }

        _nextDocuments = null;
        var before = Replace(kept: null, documents, new PublishedIndex(etag, isPartial, store.Documents, lastIndexed));
        kept?.Dispose();
        before?.Release();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        var kept = _kept;
        _nextDocuments?.Release();
        _nextDocuments = null;
        lock (_gate)
        {
            _isDisposed = true;
        }

        var before = Replace(kept: null, documents: null, Published);
        kept?.Dispose();
        before?.Release();
    }

    // Disposing the last snapshot of a state deletes files, so nothing is disposed under the lock.
    private PassSnapshot? Replace(IndexSnapshot? kept, PassSnapshot? documents, PublishedIndex published)
    {
        var before = _documents;
        lock (_gate)
        {
            (_kept, _documents) = (kept, documents);
            Volatile.Write(ref _published, published);
        }

        return ReferenceEquals(before, documents) ? null : before;
    }

    private IndexSnapshot OpenInGate()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        return _kept?.Share() ?? store.OpenSnapshot();
    }
}
