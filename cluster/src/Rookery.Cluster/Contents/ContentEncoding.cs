using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>The HTTP encoding that <see cref="ContentClient"/> and <see cref="ContentRoutes"/> share.</summary>
internal static class ContentEncoding
{
    /// <summary>The header with an index that the answering member has applied.</summary>
    public const string IndexHeader = "Rookery-Index";

    /// <summary>The header with a <see cref="ContentState"/>, as a number: what the member has of a content.</summary>
    public const string StateHeader = "Rookery-Content";

    /// <summary>The largest number of contents in an offer: as many as a batch may name.</summary>
    public const int MaxOffered = 1024;

    /// <summary>Length of an encoded <see cref="ContentName"/>, in bytes.</summary>
    public const int NameBytes = sizeof(uint) + ContentHash.Length + sizeof(long);

    private const int ListingHeadBytes = sizeof(long) + sizeof(int);
    private const int AnswerHeadBytes = sizeof(int) + (2 * sizeof(long));

    // More than any limit for attachments that an operator would set, but so small that sums of sizes do not overflow.
    private const long MaxContentBytes = 1L << 40;

    // More than a cluster has. Bounds the number of members that this node asks because of another member's answer.
    private const int MaxMembers = 64;

    /// <summary>Returns a content's name as text for a path or query.</summary>
    public static string ToText(in ContentName name)
    {
        Span<byte> bytes = stackalloc byte[NameBytes];
        Write(bytes, name);
        return Convert.ToHexString(bytes);
    }

    /// <summary>Reads a content's name from text; returns false if the text is not a name.</summary>
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
        return name.Size is >= 0 and <= MaxContentBytes;
    }

    /// <summary>Encodes the names of contents.</summary>
    public static byte[] Encode(IReadOnlyList<ContentName> names)
    {
        byte[] bytes = new byte[names.Count * NameBytes];
        for (int i = 0; i < names.Count; i++)
        {
            Write(bytes.AsSpan(i * NameBytes), names[i]);
        }

        return bytes;
    }

    /// <summary>Decodes names of contents; null if the bytes are invalid.</summary>
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

        return names.TrueForAll(static name => name.Size is >= 0 and <= MaxContentBytes) ? names : null;
    }

    /// <summary>Encodes a listing: index, number of members, members, contents.</summary>
    public static byte[] Encode(ContentListing listing)
    {
        byte[] names = Encode(listing.Names);
        int membersEnd = ListingHeadBytes + (listing.Members.Count * sizeof(long));
        byte[] bytes = new byte[membersEnd + names.Length];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, listing.AppliedIndex);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(sizeof(long)), listing.Members.Count);
        for (int i = 0; i < listing.Members.Count; i++)
        {
            BinaryPrimitives.WriteInt64LittleEndian(
                bytes.AsSpan(ListingHeadBytes + (i * sizeof(long))),
                listing.Members[i].Value
            );
        }

        names.CopyTo(bytes.AsSpan(membersEnd));
        return bytes;
    }

    /// <summary>Decodes a listing; null if the bytes are invalid.</summary>
    public static ContentListing? DecodeListing(ReadOnlySpan<byte> bytes)
    {
        int count =
            bytes.Length < ListingHeadBytes ? -1 : BinaryPrimitives.ReadInt32LittleEndian(bytes[sizeof(long)..]);
        if (
            count is < 0 or > MaxMembers
            || bytes.Length < ListingHeadBytes + (count * sizeof(long))
            || Decode(bytes[(ListingHeadBytes + (count * sizeof(long)))..]) is not { } names
        )
        {
            return null;
        }

        var members = new NodeId[count];
        for (int i = 0; i < count; i++)
        {
            members[i] = new NodeId(
                BinaryPrimitives.ReadInt64LittleEndian(bytes[(ListingHeadBytes + (i * sizeof(long)))..])
            );
        }

        return new ContentListing(names, BinaryPrimitives.ReadInt64LittleEndian(bytes), members);
    }

    /// <summary>Encodes an answer to an offer.</summary>
    public static byte[] Encode(OfferAnswer answer)
    {
        byte[] trouble = Encoding.UTF8.GetBytes(answer.Trouble ?? string.Empty);
        byte[] bytes = new byte[AnswerHeadBytes + trouble.Length];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, answer.Missing);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(sizeof(int)), answer.ReceivedBytes);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(sizeof(int) + sizeof(long)), answer.QueueBytes);
        trouble.CopyTo(bytes.AsSpan(AnswerHeadBytes));
        return bytes;
    }

    /// <summary>Decodes an answer to an offer; null if the bytes are invalid.</summary>
    public static OfferAnswer? DecodeAnswer(ReadOnlySpan<byte> bytes) =>
        bytes.Length < AnswerHeadBytes
            ? null
            : new OfferAnswer(
                BinaryPrimitives.ReadInt32LittleEndian(bytes),
                BinaryPrimitives.ReadInt64LittleEndian(bytes[sizeof(int)..]),
                BinaryPrimitives.ReadInt64LittleEndian(bytes[(sizeof(int) + sizeof(long))..]),
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
