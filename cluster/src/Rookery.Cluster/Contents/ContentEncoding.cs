using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using Rookery.Documents.Attachments;

namespace Rookery.Cluster.Contents;

/// <summary>The HTTP encoding that <see cref="ContentClient"/> and <see cref="ContentRoutes"/> share.</summary>
internal static class ContentEncoding
{
    /// <summary>The header with an index that the answering member has applied.</summary>
    public const string IndexHeader = "Rookery-Index";

    /// <summary>The header with what the member has of a content, as a number.</summary>
    public const string StateHeader = "Rookery-Content";

    /// <summary>The largest number of contents in an offer: those of a batch.</summary>
    public const int MaxOffered = 1024;

    /// <summary>Bytes of an encoded content.</summary>
    public const int NameBytes = sizeof(uint) + ContentHash.Length + sizeof(long);

    /// <summary>Bytes of an encoded list before its contents.</summary>
    public const int PageHeadBytes = sizeof(long);

    private const int AnswerHeadBytes = sizeof(int) + sizeof(long);

    /// <summary>Returns a content as text for a path or query.</summary>
    public static string ToText(in ContentName name)
    {
        Span<byte> bytes = stackalloc byte[NameBytes];
        Write(bytes, name);
        return Convert.ToHexString(bytes);
    }

    /// <summary>Reads a content from text; false if it is none.</summary>
    public static bool TryParse(string? text, out ContentName name)
    {
        Span<byte> bytes = stackalloc byte[NameBytes];
        name = default;
        if (
            text?.Length != 2 * NameBytes
            || Convert.FromHexString(text, bytes, out _, out _) != System.Buffers.OperationStatus.Done
        )
        {
            return false;
        }

        name = Read(bytes);
        return name.Size >= 0;
    }

    /// <summary>Encodes contents.</summary>
    public static byte[] Encode(IReadOnlyList<ContentName> names)
    {
        byte[] bytes = new byte[names.Count * NameBytes];
        for (int i = 0; i < names.Count; i++)
        {
            Write(bytes.AsSpan(i * NameBytes), names[i]);
        }

        return bytes;
    }

    /// <summary>Decodes contents; null if the bytes are none.</summary>
    public static List<ContentName>? Decode(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length % NameBytes != 0)
        {
            return null;
        }

        var names = new List<ContentName>(bytes.Length / NameBytes);
        for (; !bytes.IsEmpty; bytes = bytes[NameBytes..])
        {
            names.Add(Read(bytes));
        }

        return names.TrueForAll(static name => name.Size >= 0) ? names : null;
    }

    /// <summary>Encodes an answer to an offer.</summary>
    public static byte[] Encode(OfferAnswer answer)
    {
        byte[] trouble = Encoding.UTF8.GetBytes(answer.Trouble ?? string.Empty);
        byte[] bytes = new byte[AnswerHeadBytes + trouble.Length];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, answer.Missing);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(sizeof(int)), answer.ReceivedBytes);
        trouble.CopyTo(bytes.AsSpan(AnswerHeadBytes));
        return bytes;
    }

    /// <summary>Decodes an answer to an offer; null if the bytes are none.</summary>
    public static OfferAnswer? DecodeAnswer(ReadOnlySpan<byte> bytes) =>
        bytes.Length < AnswerHeadBytes
            ? null
            : new OfferAnswer(
                BinaryPrimitives.ReadInt32LittleEndian(bytes),
                BinaryPrimitives.ReadInt64LittleEndian(bytes[sizeof(int)..]),
                bytes.Length == AnswerHeadBytes ? null : Encoding.UTF8.GetString(bytes[AnswerHeadBytes..])
            );

    /// <summary>Returns a number as text for a header.</summary>
    public static string ToText(long number) => number.ToString(CultureInfo.InvariantCulture);

    private static void Write(Span<byte> bytes, in ContentName name)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, name.Database);
        name.Hash.Write(bytes[sizeof(uint)..]);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[(sizeof(uint) + ContentHash.Length)..], name.Size);
    }

    private static ContentName Read(ReadOnlySpan<byte> bytes) =>
        new(
            BinaryPrimitives.ReadUInt32LittleEndian(bytes),
            ContentHash.Read(bytes[sizeof(uint)..]),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[(sizeof(uint) + ContentHash.Length)..])
        );
}
