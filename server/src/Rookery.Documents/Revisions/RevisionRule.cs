using System.Buffers.Binary;

namespace Rookery.Documents.Revisions;

/// <summary>
/// Decides which revisions are kept of the documents of a collection. A revision is removed only if all limits that
/// are set allow it.
/// </summary>
public sealed record RevisionRule
{
    private const byte Disables = 1;
    private const byte Purges = 2;
    private const byte HasMinimum = 4;
    private const byte HasMinimumAge = 8;
    private const byte HasMaximumDeletes = 16;

    /// <summary>Maximum encoded length in bytes.</summary>
    internal const int MaxBytes = 1 + (3 * sizeof(long));

    /// <summary>Number of newest revisions that are never removed; null for no limit by number.</summary>
    public long? MinimumToKeep { get; init; }

    /// <summary>Age in ticks below which a revision is never removed; null for no limit by age.</summary>
    public long? MinimumAgeTicks { get; init; }

    /// <summary>Maximum number of revisions that one change of a document removes; null for the server's own
    /// limit.</summary>
    public long? MaximumDeletes { get; init; }

    /// <summary>Whether no revisions are created or removed.</summary>
    public bool IsDisabled { get; init; }

    /// <summary>Whether the deletion of a document removes its revisions.</summary>
    public bool PurgesOnDelete { get; init; }

    /// <summary>Whether a changed document becomes a revision.</summary>
    public bool Creates => !IsDisabled && MinimumToKeep != 0;

    /// <summary>Writes the rule and returns its length.</summary>
    internal int Write(Span<byte> destination)
    {
        destination[0] = (byte)(
            (IsDisabled ? Disables : 0)
            | (PurgesOnDelete ? Purges : 0)
            | (MinimumToKeep is null ? 0 : HasMinimum)
            | (MinimumAgeTicks is null ? 0 : HasMinimumAge)
            | (MaximumDeletes is null ? 0 : HasMaximumDeletes)
        );
        int at = 1;
        foreach (long? number in (ReadOnlySpan<long?>)[MinimumToKeep, MinimumAgeTicks, MaximumDeletes])
        {
            if (number is { } value)
            {
                BinaryPrimitives.WriteInt64LittleEndian(destination[at..], value);
                at += sizeof(long);
            }
        }

        return at;
    }

    /// <summary>Reads a rule and advances the position; returns null if the bytes are none.</summary>
    internal static RevisionRule? TryRead(ReadOnlySpan<byte> source, ref int position)
    {
        const byte Known = Disables | Purges | HasMinimum | HasMinimumAge | HasMaximumDeletes;
        if (position >= source.Length || (source[position] & ~Known) != 0)
        {
            return null;
        }

        byte flags = source[position++];
        return
            TryReadNumber(source, flags, HasMinimum, ref position, out long? minimum)
            && TryReadNumber(source, flags, HasMinimumAge, ref position, out long? age)
            && TryReadNumber(source, flags, HasMaximumDeletes, ref position, out long? deletes)
            ? new RevisionRule
            {
                IsDisabled = (flags & Disables) != 0,
                PurgesOnDelete = (flags & Purges) != 0,
                MinimumToKeep = minimum,
                MinimumAgeTicks = age,
                MaximumDeletes = deletes,
            }
            : null;
    }

    private static bool TryReadNumber(
        ReadOnlySpan<byte> source,
        byte flags,
        byte flag,
        ref int position,
        out long? number
    )
    {
        number = null;
        if ((flags & flag) == 0)
        {
            return true;
        }

        if (source.Length - position < sizeof(long))
        {
            return false;
        }

        number = BinaryPrimitives.ReadInt64LittleEndian(source[position..]);
        position += sizeof(long);
        return true;
    }
}
