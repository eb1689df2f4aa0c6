using Rookery.Documents.Ids;

namespace Rookery.Queries.Answering;

/// <summary>
/// Keeps a walk in the order of etags from returning a document twice. The walk renews its snapshot. A document that
/// is written meanwhile gets a higher etag, so the walk reads it again. The document is then a result only if it was
/// not returned before. The walk ends even if writes continue.
/// </summary>
/// <param name="lastEtag">The database's last etag when the walk began.</param>
internal sealed class WalkDeduplicator(long lastEtag)
{
    // About 2 MiB of hashes. If more documents match, the walk ends at the last etag that existed when it began, so it
    // may miss documents that were written meanwhile.
    private const int MaxReturnedHashes = 100_000;

    // FNV-1a, 64 bits.
    private const ulong FnvOffsetBasis = 14_695_981_039_346_656_037;
    private const ulong FnvPrime = 1_099_511_628_211;

    private readonly HashSet<ulong> _returnedHashes = [];
    private long? _movedEnd;

    /// <summary>
    /// Returns whether the walk ends at this document. The walk's end is first the database's last etag when the walk
    /// began. When the walk reaches this end, the end moves once, to the database's last etag at that time.
    /// </summary>
    /// <param name="etag">The etag of the current document.</param>
    /// <param name="newestEtag">Returns the database's last etag now.</param>
    public bool EndsAt(long etag, Func<long> newestEtag)
    {
        if (etag <= (_movedEnd ?? lastEtag))
        {
            return false;
        }

        if (_movedEnd is not null || _returnedHashes.Count == MaxReturnedHashes)
        {
            return true;
        }

        _movedEnd = newestEtag();
        return etag > _movedEnd;
    }

    /// <summary>Registers a document that matches. Returns false if it was returned before.</summary>
    public bool TryRegister(ReadOnlySpan<byte> id)
    {
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        ulong hash = FnvOffsetBasis;
        foreach (byte part in lower[..DocumentId.ToLower(id, lower)])
        {
            hash = (hash ^ part) * FnvPrime;
        }

        return _returnedHashes.Count == MaxReturnedHashes || _returnedHashes.Add(hash);
    }
}
