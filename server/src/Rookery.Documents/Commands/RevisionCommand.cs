using System.Buffers.Binary;

namespace Rookery.Documents.Commands;

/// <summary>An operation on the revisions of one document. Spans point into the command.</summary>
public readonly ref struct RevisionCommand
{
    /// <summary>Maximum number of etags in one operation.</summary>
    public const int MaxEtags = 1024;

    /// <summary>What to do.</summary>
    public RevisionAction Action { get; init; }

    /// <summary>
    /// Revert: etag of the revision. Delete: etag of the first revision to look at, at which an earlier Delete ended; 0
    /// to begin with the oldest.
    /// </summary>
    public long Etag { get; init; }

    /// <summary>Delete, Enforce: whether forced revisions may be removed too.</summary>
    public bool IncludesForced { get; init; }

    /// <summary>Delete: time of the first revision to remove, in UTC ticks.</summary>
    public long FromTicks { get; init; }

    /// <summary>Delete: time of the last revision to remove, in UTC ticks.</summary>
    public long ToTicks { get; init; }

    /// <summary>Delete: if not empty, only revisions with these etags (8 bytes each, little-endian).</summary>
    public ReadOnlySpan<byte> Etags { get; init; }

    /// <summary>Returns whether a Delete names the revision, or names none.</summary>
    public bool Names(long etag)
    {
        for (int at = 0; at + sizeof(long) <= Etags.Length; at += sizeof(long))
        {
            if (BinaryPrimitives.ReadInt64LittleEndian(Etags[at..]) == etag)
            {
                return true;
            }
        }

        return Etags.IsEmpty;
    }
}
