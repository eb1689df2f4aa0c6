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
    private const int MostRemembered = 100_000;

    private readonly HashSet<ulong> _given = [];
    private long? _end;

    /// <summary>
    /// Returns whether the walk ends at this document. The first end is the database's last etag when the walk began.
    /// When the walk reaches it, the end moves once, to the last etag at that moment.
    /// </summary>
    /// <param name="etag">The etag of the current document.</param>
    /// <param name="newestEtag">Returns the database's last etag now.</param>
    public bool IsOver(long etag, Func<long> newestEtag)
    {
        if (etag <= (_end ?? lastEtag))
        {
            return false;
        }

        if (_end is not null || _given.Count == MostRemembered)
        {
            return true;
        }

        _end = newestEtag();
        return etag > _end;
    }

    /// <summary>Registers a document that matches. Returns false if it was returned before.</summary>
    public bool IsNew(ReadOnlySpan<byte> id)
    {
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        ulong hash = 14_695_981_039_346_656_037;
        foreach (byte part in lower[..DocumentId.ToLower(id, lower)])
        {
            hash = (hash ^ part) * 1_099_511_628_211;
        }

        return _given.Count == MostRemembered || _given.Add(hash);
    }
}
