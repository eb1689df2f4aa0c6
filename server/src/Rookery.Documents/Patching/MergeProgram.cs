using System.Buffers.Binary;
using Rookery.Documents.Commands;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Platform;

namespace Rookery.Documents.Patching;

/// <summary>
/// A merge patch inside a command: the changes of collection and expiry, which are stored separately, and the members
/// to merge.
/// </summary>
/// <remarks>The layout: see <see cref="ProgramKind.Merge"/>.</remarks>
internal readonly ref struct MergeProgram
{
    private const int FixedBytes = 12;

    public bool CreatesMissing { get; private init; }

    public MemberChange CollectionChange { get; private init; }

    public MemberChange ExpiryChange { get; private init; }

    public long ExpiresAtTicks { get; private init; }

    public ReadOnlySpan<byte> Collection { get; private init; }

    public ReadOnlySpan<byte> Metadata { get; private init; }

    public ReadOnlySpan<byte> Body { get; private init; }

    /// <summary>Appends an encoded merge patch.</summary>
    public static void Write(PooledBytes output, in ParsedDocument patch, bool createIfMissing)
    {
        Span<byte> head = output.Reserve(FixedBytes);
        head[0] = (byte)ProgramKind.Merge;
        head[1] = createIfMissing ? (byte)1 : (byte)0;
        head[2] = (byte)patch.CollectionChange;
        head[3] = (byte)patch.ExpiryChange;
        BinaryPrimitives.WriteInt64LittleEndian(head[4..], patch.ExpiresAtTicks);
        output.Advance(FixedBytes);
        output.Advance(StoredDocument.WriteContent(output.Reserve(StoredDocument.ContentBytes(patch)), patch));
    }

    /// <summary>Decodes a merge patch.</summary>
    /// <exception cref="CommandFormatException">The bytes do not decode.</exception>
    public static MergeProgram Read(ReadOnlySpan<byte> bytes)
    {
        int at = FixedBytes;
        if (
            !Varint.TryReadBytes(bytes, ref at, out ReadOnlySpan<byte> collection)
            || !Varint.TryReadBytes(bytes, ref at, out ReadOnlySpan<byte> metadata)
        )
        {
            throw new CommandFormatException(
                "A merge patch in a command does not decode although its checksum is right: keep the data "
                    + "directory and report it."
            );
        }

        return new MergeProgram
        {
            CreatesMissing = bytes[1] != 0,
            CollectionChange = (MemberChange)bytes[2],
            ExpiryChange = (MemberChange)bytes[3],
            ExpiresAtTicks = BinaryPrimitives.ReadInt64LittleEndian(bytes[4..]),
            Collection = collection,
            Metadata = metadata,
            Body = bytes[at..],
        };
    }
}
