using System.Buffers.Binary;
using Rookery.Documents.Attachments;

namespace Rookery.Documents.Commands;

/// <summary>Decodes attachments as commands contain them; <see cref="CommandFormat"/> has the layout.</summary>
internal static class AttachmentBytes
{
    /// <summary>Decodes the attachment in <see cref="Operation.EncodedPart"/>.</summary>
    public static AttachmentEntry Decode(ReadOnlySpan<byte> bytes)
    {
        int nameEnd = sizeof(ushort) + BinaryPrimitives.ReadUInt16LittleEndian(bytes);
        var name = bytes[sizeof(ushort)..nameEnd];
        if (nameEnd == bytes.Length)
        {
            return new AttachmentEntry { Name = name };
        }

        int typeAt = nameEnd + sizeof(ushort);
        int typeEnd = typeAt + BinaryPrimitives.ReadUInt16LittleEndian(bytes[nameEnd..]);
        return new AttachmentEntry
        {
            Name = name,
            ContentType = bytes[typeAt..typeEnd],
            Size = BinaryPrimitives.ReadInt64LittleEndian(bytes[typeEnd..]),
            Hash = ContentHash.Read(bytes[(typeEnd + sizeof(long))..]),
        };
    }
}
