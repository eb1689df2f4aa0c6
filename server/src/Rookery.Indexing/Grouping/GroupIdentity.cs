using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Platform;
using Rookery.Search.Values;

namespace Rookery.Indexing.Grouping;

/// <summary>
/// Encodes the keys of a group as bytes that identify the group and sort like its keys. For each key they contain its
/// encoded value, with case, followed by its length.
/// </summary>
public static class GroupIdentity
{
    /// <summary>
    /// Maximum bytes of an identity that is its own id. It is one byte less than the longest id, so a shortened
    /// identity is recognised by its length.
    /// </summary>
    public const int MaxWholeBytes = TermKey.MaxBytes - 1;

    /// <summary>Appends one key.</summary>
    /// <param name="json">The value of the key.</param>
    /// <param name="identity">Receives the encoded key.</param>
    public static void Append(ReadOnlySpan<byte> json, PooledBytes identity)
    {
        Span<byte> room = identity.Reserve(TermKey.MaxBytes + sizeof(ushort));
        int length = TermKey.Write(json, isExact: true, room);

        // The length comes after the key, so groups sort by the bytes of their keys, and different lists of keys never
        // have the same bytes.
        BinaryPrimitives.WriteUInt16BigEndian(room[length..], (ushort)length);
        identity.Advance(length + sizeof(ushort));
    }

    /// <summary>Returns the id of an identity: the identity itself, or a prefix and a hash of a long one.</summary>
    /// <param name="identity">The identity.</param>
    /// <param name="destination">Receives the id; at least <see cref="TermKey.MaxBytes"/> bytes.</param>
    /// <returns>The id.</returns>
    public static ReadOnlySpan<byte> ToId(ReadOnlySpan<byte> identity, Span<byte> destination)
    {
        if (identity.Length <= MaxWholeBytes)
        {
            identity.CopyTo(destination);
            return destination[..identity.Length];
        }

        identity[..(TermKey.MaxBytes - SHA256.HashSizeInBytes)].CopyTo(destination);
        SHA256.HashData(identity, destination[(TermKey.MaxBytes - SHA256.HashSizeInBytes)..]);
        return destination[..TermKey.MaxBytes];
    }

    /// <summary>
    /// Returns whether an id is a shortened identity. Such an id does not determine the order of its group.
    /// </summary>
    public static bool IsTruncated(ReadOnlySpan<byte> id) => id.Length > MaxWholeBytes;
}
