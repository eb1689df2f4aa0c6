using Rookery.Documents.Ids;

namespace Rookery.Queries.Answering;

/// <summary>
/// Keeps a walk in the order of writing from giving a document twice. The walk's snapshots are short, so it meets a
/// document that is written meanwhile again, behind all that were there at the beginning. The document is a result then
/// unless it was one before. Writes near the end of the walk do not lengthen it for ever.
/// </summary>
/// <param name="lastEtag">The last etag when the walk began.</param>
internal sealed class WalkedOnce(long lastEtag)
{
    // 2 MiB. Where more match, documents that are written while the query runs are left as they were met, or out.
    private const int MostRemembered = 100_000;

    private readonly HashSet<ulong> _given = [];
    private long? _end;

    /// <summary>Whether the walk has met all that it has to.</summary>
    /// <param name="etag">Of the document at hand.</param>
    /// <param name="newestEtag">Gives the last etag now.</param>
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

    /// <summary>Whether a document that matches is a result.</summary>
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
