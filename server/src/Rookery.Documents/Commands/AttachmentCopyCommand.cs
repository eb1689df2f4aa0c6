using System.Buffers.Binary;
using Rookery.Documents.Ids;

namespace Rookery.Documents.Commands;

/// <summary>
/// The attachments of an <see cref="OperationKind.AttachmentCopy"/>. Spans point into the command. The copy has the
/// content of its source, so the command names no content.
/// </summary>
/// <remarks>
/// If <see cref="Moves"/> is set without <see cref="Renames"/>, a second operation deletes the source: each of the two
/// documents gets a new version, and a version takes an operation. A rename has one document and one operation.
/// Encoded as <c>[flags u8][name u16+bytes][source document u16+bytes][its lower-cased id u16+bytes if flag 1][source
/// name u16+bytes]</c>.
/// </remarks>
public readonly ref struct AttachmentCopyCommand
{
    private const byte HasLowerSource = 1;
    private const byte MovesFlag = 2;
    private const byte RenamesFlag = 4;
    private const byte AllFlags = HasLowerSource | MovesFlag | RenamesFlag;

    /// <summary>The name of the new attachment, UTF-8.</summary>
    public ReadOnlySpan<byte> Name { get; init; }

    /// <summary>The id of the document with the source.</summary>
    public CommandId Source { get; init; }

    /// <summary>The name of the source, UTF-8.</summary>
    public ReadOnlySpan<byte> SourceName { get; init; }

    /// <summary>Whether the source is removed, by this operation or by the next one.</summary>
    public bool Moves { get; init; }

    /// <summary>Whether the document with the source is the one that gets the copy, and loses the source.</summary>
    public bool Renames { get; init; }

    /// <summary>Decodes what <see cref="Write"/> wrote and <see cref="Measure"/> accepts.</summary>
    public static AttachmentCopyCommand Decode(ReadOnlySpan<byte> bytes)
    {
        byte flags = bytes[0];
        int at = 1;
        var name = Take(bytes, ref at);
        var source = Take(bytes, ref at);
        var lower = (flags & HasLowerSource) == 0 ? default : Take(bytes, ref at);
        return new AttachmentCopyCommand
        {
            Name = name,
            Source = new CommandId(CommandIdKind.Literal, source, lower),
            SourceName = Take(bytes, ref at),
            Moves = (flags & MovesFlag) != 0,
            Renames = (flags & RenamesFlag) != 0,
        };
    }

    /// <summary>
    /// Returns the length of the encoded command at the start of the bytes; more than there are if they are malformed.
    /// </summary>
    internal static int Measure(ReadOnlySpan<byte> bytes)
    {
        if (bytes.IsEmpty || (bytes[0] & ~AllFlags) != 0)
        {
            return int.MaxValue;
        }

        int at = 1;
        for (int texts = (bytes[0] & HasLowerSource) == 0 ? 3 : 4; texts > 0; texts--)
        {
            if (bytes.Length - at < sizeof(ushort))
            {
                return int.MaxValue;
            }

            at += sizeof(ushort) + BinaryPrimitives.ReadUInt16LittleEndian(bytes[at..]);
        }

        return at;
    }

    /// <summary>Appends a command to a buffer.</summary>
    /// <param name="buffer">The buffer.</param>
    /// <param name="name">The name of the new attachment.</param>
    /// <param name="source">The id of the document with the source.</param>
    /// <param name="sourceName">The name of the source.</param>
    /// <param name="moves">See <see cref="Moves"/>.</param>
    /// <param name="renames">See <see cref="Renames"/>.</param>
    internal static void Write(
        CommandBuffer buffer,
        ReadOnlySpan<byte> name,
        ReadOnlySpan<byte> source,
        ReadOnlySpan<byte> sourceName,
        bool moves,
        bool renames
    )
    {
        const int Texts = 4;
        var span = buffer.GetSpan(
            1 + (Texts * sizeof(ushort)) + name.Length + source.Length + DocumentId.MaxBytes + sourceName.Length
        );
        bool isAscii = System.Text.Ascii.IsValid(source);
        span[0] = (byte)((isAscii ? 0 : HasLowerSource) | (moves ? MovesFlag : 0) | (renames ? RenamesFlag : 0));
        int at = CommandFormat.WriteShort(span, CommandFormat.WriteShort(span, at: 1, name), source);
        if (!isAscii)
        {
            int lowerLength = DocumentId.ToLower(source, span.Slice(at + sizeof(ushort), DocumentId.MaxBytes));
            BinaryPrimitives.WriteUInt16LittleEndian(span[at..], (ushort)lowerLength);
            at += sizeof(ushort) + lowerLength;
        }

        buffer.Advance(CommandFormat.WriteShort(span, at, sourceName));
    }

    private static ReadOnlySpan<byte> Take(ReadOnlySpan<byte> bytes, scoped ref int at)
    {
        int start = at + sizeof(ushort);
        at = start + BinaryPrimitives.ReadUInt16LittleEndian(bytes[at..]);
        return bytes[start..at];
    }
}
