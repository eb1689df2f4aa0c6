using System.Buffers.Binary;
using Rookery.Documents.Apply;
using Rookery.Documents.Stored;

namespace Rookery.Documents.Revisions;

/// <summary>
/// The row of a revision that is not the newest version of its document: <c>[format u8][flags u8][head of a stored
/// document][content]</c>. With flag 1 the content is a <see cref="RevisionDelta"/> from the next newer one. Flag 2
/// marks a forced revision, flag 4 that of a deletion.
/// </summary>
internal readonly ref struct RevisionRow
{
    /// <summary>Length of the part before the head.</summary>
    public const int PrefixBytes = 2;

    /// <summary>Length of the part that <see cref="Peek"/> reads.</summary>
    public const int PeekedBytes = PrefixBytes + 2 + sizeof(long);

    private const byte Format = 1;
    private const byte DeltaFlag = 1;
    private const byte ForcedFlag = 2;
    private const byte DeleteFlag = 4;
    private const byte KnownFlags = DeltaFlag | ForcedFlag | DeleteFlag;

    /// <summary>Decodes a row.</summary>
    /// <param name="value">The row's value.</param>
    /// <exception cref="RowFormatException">A newer version wrote it.</exception>
    public RevisionRow(ReadOnlySpan<byte> value)
    {
        IsDelta = Peek(value).IsDelta;
        int at = DocumentView.ReadHead(value[PrefixBytes..], out var head);
        Head = value.Slice(PrefixBytes, at);
        Content = value[(PrefixBytes + at)..];
        Attachments = head.Attachments;
        RevisionsPart = at - head.Revisions.Length;
    }

    /// <summary>Whether the content must be decoded with that of the next newer revision.</summary>
    public bool IsDelta { get; }

    /// <summary>The head of the stored document.</summary>
    public ReadOnlySpan<byte> Head { get; }

    /// <summary>
    /// Offset in the head of its part about revisions, which begins with <see cref="RevisionFlags"/>.
    /// </summary>
    public int RevisionsPart { get; }

    /// <summary>The content or the delta.</summary>
    public ReadOnlySpan<byte> Content { get; }

    /// <summary>The version's attachments: the row holds a reference to each content.</summary>
    public ReadOnlySpan<byte> Attachments { get; }

    /// <summary>Reads what the first bytes of a row say.</summary>
    /// <param name="prefix">At least <see cref="PeekedBytes"/> bytes.</param>
    public static PeekedRevision Peek(ReadOnlySpan<byte> prefix)
    {
        FormatGuard.Expect(
            prefix.Length >= PeekedBytes && prefix[0] == Format && (prefix[1] & ~KnownFlags) == 0,
            "revision"
        );
        return new PeekedRevision
        {
            Ticks = BinaryPrimitives.ReadInt64LittleEndian(prefix[(PrefixBytes + 2)..]),
            HasAttachments = (prefix[PrefixBytes + 1] & StoredDocument.HasAttachments) != 0,
            IsDelta = (prefix[1] & DeltaFlag) != 0,
            IsForced = (prefix[1] & ForcedFlag) != 0,
            IsDelete = (prefix[1] & DeleteFlag) != 0,
        };
    }

    /// <summary>Writes the part before the head.</summary>
    public static void WritePrefix(Span<byte> destination, bool isDelta, RevisionFlags flags)
    {
        destination[0] = Format;
        destination[1] = (byte)(
            (isDelta ? DeltaFlag : 0)
            | ((flags & RevisionFlags.IsForced) == RevisionFlags.None ? 0 : ForcedFlag)
            | ((flags & RevisionFlags.IsDelete) == RevisionFlags.None ? 0 : DeleteFlag)
        );
    }
}

/// <summary>What the first bytes of a row of a revision say.</summary>
internal readonly record struct PeekedRevision
{
    /// <summary>Etag of the version.</summary>
    public long Etag { get; init; }

    /// <summary>Time of the version, in UTC ticks.</summary>
    public long Ticks { get; init; }

    /// <summary>Whether the row holds references to contents.</summary>
    public bool HasAttachments { get; init; }

    /// <summary>Whether the content is a delta.</summary>
    public bool IsDelta { get; init; }

    /// <summary>Whether a client forced its creation.</summary>
    public bool IsForced { get; init; }

    /// <summary>Whether it stands for the deletion of the document.</summary>
    public bool IsDelete { get; init; }

    /// <summary>Whether it is to be removed.</summary>
    public bool IsRemoved { get; init; }

    /// <summary>Whether its removal changes more than its row.</summary>
    public bool IsCostly { get; init; }
}
