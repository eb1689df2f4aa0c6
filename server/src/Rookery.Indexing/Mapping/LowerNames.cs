using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Ids;
using Rookery.Documents.Indexes;
using Rookery.Documents.Stored;

namespace Rookery.Indexing.Mapping;

/// <summary>Lower-cased names, for comparison.</summary>
internal static class LowerNames
{
    /// <summary>The size of a buffer for any lower-cased id or collection, in bytes.</summary>
    public const int RoomBytes = Key.MaxBytes + DocumentId.MaxBytes;

    /// <summary>Returns the lower-cased id of a document.</summary>
    public static ReadOnlySpan<byte> Id(scoped ReadOnlySpan<byte> id, Span<byte> room) =>
        room[..DocumentId.ToLower(id, room)];

    /// <inheritdoc cref="Id(ReadOnlySpan{byte}, Span{byte})"/>
    public static ReadOnlySpan<byte> Id(string id, Span<byte> room)
    {
        Span<byte> written = stackalloc byte[DocumentId.MaxBytes];
        return Id(written[..Encoding.UTF8.GetBytes(id, written)], room);
    }

    /// <summary>Returns the lower-cased name of a collection; <c>@empty</c> for an empty name.</summary>
    public static ReadOnlySpan<byte> Collection(scoped ReadOnlySpan<byte> collection, Span<byte> room) =>
        room[..Key.LowerCollection(collection, room)];

    /// <summary>
    /// Returns the lower-cased name of a collection; <c>@empty</c> for an empty name. A name that is too long for a
    /// collection, as in an index that an earlier version defined for a query, equals the name of no collection.
    /// </summary>
    public static byte[] Collection(string collection)
    {
        byte[] written = Encoding.UTF8.GetBytes(collection);
        return Collection(written, new byte[Math.Max(written.Length, RoomBytes)]).ToArray();
    }

    /// <summary>
    /// Returns the lower-cased name of a counter. A name that is too long for a counter is returned unchanged, and
    /// equals the name of no counter.
    /// </summary>
    public static byte[] Counter(string name)
    {
        byte[] written = Encoding.UTF8.GetBytes(name);
        return written.Length <= CounterName.MaxBytes ? Id(written, new byte[RoomBytes]).ToArray() : written;
    }

    /// <summary>Returns the lower-cased name of the current counter.</summary>
    public static ReadOnlySpan<byte> Counter(scoped CounterNames names, Span<byte> room) =>
        room[..names.WriteLower(room)];

    /// <summary>Returns whether a lower-cased name is in a list.</summary>
    public static bool Contains(byte[][] lowerNames, ReadOnlySpan<byte> lowerName)
    {
        foreach (byte[] name in lowerNames)
        {
            if (lowerName.SequenceEqual(name))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Returns the lower-cased name of an index.</summary>
    public static string Index(string name) =>
        Ascii.IsValid(name) ? name.ToLowerInvariant() : Encoding.UTF8.GetString(IndexRecord.LowerBytes(name));
}
