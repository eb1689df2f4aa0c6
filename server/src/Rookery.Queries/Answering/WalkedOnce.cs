using Rookery.Documents.Ids;

namespace Rookery.Queries.Answering;

/// <summary>
/// Keeps a walk in the order of etags from returning a document twice. The walk renews its snapshot, so a document that
/// is written meanwhile gets a new etag and is met again, after all documents that existed at the beginning. It is a
/// result then unless it was one before. The walk ends even if writes go on.
/// </summary>
/// <param name="lastEtag">The database's last etag when the walk began.</param>
internal sealed class WalkedOnce(long lastEtag)
{
    // 2 MiB of hashes. If more documents match, the walk ends at the etag that was the last at its beginning, so
    // documents written during the query may be missed.
    private const int MostRemembered = 100_000;

    private readonly HashSet<ulong> _given = [];
    private long? _end;

    /// <summary>
    /// Returns whether the walk may end at this document. The walk first ends at the etag that was the database's last
    /// when it began. When it gets there, the end moves once, to the last etag at that moment.
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
