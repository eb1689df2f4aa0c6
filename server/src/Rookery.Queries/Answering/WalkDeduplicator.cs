using Rookery.Documents.Ids;

namespace Rookery.Queries.Answering;

/// <summary>
/// Keeps a walk in the order of etags from returning a document twice. The walk renews its snapshot, so it meets a
/// document again that was written meanwhile and got a higher etag. Such a document is a result only if it was none
/// before. The walk ends even if writes go on.
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
    /// Returns whether the walk ends at this document. The first end is the database's last etag when the walk began.
    /// When the walk reaches it, the end moves once, to the last etag at that moment.
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
