using System.Buffers.Binary;
using System.Text;

namespace Rookery.Documents.Apply;

/// <summary>
/// Writes row keys: <c>[u32 database][u8 table][…]</c>. Numbers are big-endian, so byte order is numeric order. Each
/// method writes into a buffer and returns the part of it that is the key.
/// </summary>
internal static class Key
{
    /// <summary>
    /// Length of the longest key except those of counters: the key of a collection and an etag. Buffers that are passed
    /// to this class have at least this length, except for <see cref="WriteCounter"/>.
    /// </summary>
    public const int MaxBytes = PrefixBytes + 512 + 1 + sizeof(long);

    /// <summary>
    /// Length of the longest key of a counter. A buffer for <see cref="WriteCounter"/> has this length.
    /// </summary>
    public const int MaxCounterBytes = PrefixBytes + 512 + 1 + 512;

    /// <summary>The database number in the keys of rows that belong to no single database.</summary>
    public const uint NoDatabase = 0;

    /// <summary>Length of database number and table number.</summary>
    public const int PrefixBytes = sizeof(uint) + 1;

    /// <summary>Collection name that clients see for documents without a collection.</summary>
    public static ReadOnlySpan<byte> EmptyCollection => "@empty"u8;

    /// <summary>Writes database number and table, with which all keys of the table begin.</summary>
    public static ReadOnlySpan<byte> WritePrefix(Span<byte> buffer, uint database, byte table)
    {
        BinaryPrimitives.WriteUInt32BigEndian(buffer, database);
        buffer[sizeof(uint)] = table;
        return buffer[..PrefixBytes];
    }

    /// <summary>Writes a key with a text, such as a lower-cased id, identity or collection.</summary>
    public static ReadOnlySpan<byte> WriteText(Span<byte> buffer, uint database, byte table, ReadOnlySpan<byte> text)
    {
        WritePrefix(buffer, database, table);
        text.CopyTo(buffer[PrefixBytes..]);
        return buffer[..(PrefixBytes + text.Length)];
    }

    /// <summary>Writes a key with one number: an etag or a database number.</summary>
    public static ReadOnlySpan<byte> WriteNumber(Span<byte> buffer, uint database, byte table, long number)
    {
        WritePrefix(buffer, database, table);
        BinaryPrimitives.WriteInt64BigEndian(buffer[PrefixBytes..], number);
        return buffer[..(PrefixBytes + sizeof(long))];
    }

    /// <summary>Writes a key with two numbers: expiry and etag, log time and etag, or the halves of a hash.</summary>
    public static ReadOnlySpan<byte> WriteNumbers(Span<byte> buffer, uint database, byte table, long first, long second)
    {
        WriteNumber(buffer, database, table, first);
        BinaryPrimitives.WriteInt64BigEndian(buffer[(PrefixBytes + sizeof(long))..], second);
        return buffer[..(PrefixBytes + (2 * sizeof(long)))];
    }

    /// <summary>
    /// Writes the key of a document in its collection: the lower-cased name, a zero byte and the etag.
    /// </summary>
    public static ReadOnlySpan<byte> WriteCollection(
        Span<byte> buffer,
        uint database,
        ReadOnlySpan<byte> collection,
        long etag
    )
    {
        WritePrefix(buffer, database, Table.ByCollection);
        int length = PrefixBytes + LowerCollection(collection, buffer[PrefixBytes..]);
        buffer[length++] = 0;
        BinaryPrimitives.WriteInt64BigEndian(buffer[length..], etag);
        return buffer[..(length + sizeof(long))];
    }

    /// <summary>
    /// Writes the key of a counter: the document's lower-cased id, a zero byte and the lower-cased name. An empty name
    /// gives the beginning of the keys of all counters of the document.
    /// </summary>
    /// <param name="buffer">At least <see cref="MaxCounterBytes"/> bytes.</param>
    /// <param name="database">The database's number.</param>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="lowerName">The counter's name.</param>
    public static ReadOnlySpan<byte> WriteCounter(
        Span<byte> buffer,
        uint database,
        ReadOnlySpan<byte> lowerId,
        ReadOnlySpan<byte> lowerName
    )
    {
        WritePrefix(buffer, database, Table.DocumentCounters);
        lowerId.CopyTo(buffer[PrefixBytes..]);
        int length = PrefixBytes + lowerId.Length;
        buffer[length++] = 0;
        lowerName.CopyTo(buffer[length..]);
        return buffer[..(length + lowerName.Length)];
    }

    /// <summary>Writes the key of a revision: the document's lower-cased id, a zero byte and the etag.</summary>
    public static ReadOnlySpan<byte> WriteRevision(
        Span<byte> buffer,
        uint database,
        ReadOnlySpan<byte> lowerId,
        long etag
    )
    {
        int length = WriteText(buffer, database, Table.Revisions, lowerId).Length;
        buffer[length++] = 0;
        BinaryPrimitives.WriteInt64BigEndian(buffer[length..], etag);
        return buffer[..(length + sizeof(long))];
    }

    /// <summary>
    /// Lower-cases a collection name, ASCII letters only: apply must not depend on the runtime's Unicode tables.
    /// </summary>
    /// <returns>Bytes written.</returns>
    public static int LowerCollection(ReadOnlySpan<byte> collection, Span<byte> destination)
    {
        if (collection.IsEmpty)
        {
            collection = EmptyCollection;
        }

        collection.CopyTo(destination);
        for (int i = 0; i < collection.Length; i++)
        {
            if (destination[i] is >= (byte)'A' and <= (byte)'Z')
            {
                destination[i] |= 0x20;
            }
        }

        return collection.Length;
    }

    /// <summary>Writes the smallest key greater than all keys with this prefix; empty if there is none.</summary>
    public static ReadOnlySpan<byte> WriteAfterPrefix(Span<byte> buffer, ReadOnlySpan<byte> prefix)
    {
        prefix.CopyTo(buffer);
        for (int last = prefix.Length - 1; last >= 0; last--)
        {
            if (buffer[last] != byte.MaxValue)
            {
                buffer[last]++;
                return buffer[..(last + 1)];
            }
        }

        return [];
    }

    public static uint DatabaseOf(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadUInt32BigEndian(key);

    public static byte TableOf(ReadOnlySpan<byte> key) => key[sizeof(uint)];

    public static ReadOnlySpan<byte> TextOf(ReadOnlySpan<byte> key) => key[PrefixBytes..];

    public static long NumberOf(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadInt64BigEndian(key[PrefixBytes..]);

    /// <summary>Returns the number in the last eight bytes of a key, for instance its etag.</summary>
    public static long LastNumberOf(ReadOnlySpan<byte> key) =>
        BinaryPrimitives.ReadInt64BigEndian(key[^sizeof(long)..]);

    /// <summary>Returns a collection's name as a string; <c>@empty</c> for an empty name.</summary>
    public static string CollectionText(ReadOnlySpan<byte> collection) =>
        Encoding.UTF8.GetString(collection.IsEmpty ? EmptyCollection : collection);
}
