using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Platform;
using Rookery.Search.Values;

namespace Rookery.Indexing.Grouping;

/// <summary>
/// The bytes by which groups are told apart, and whose order is that of the groups: of each key those of its value with
/// case, and their length.
/// </summary>
public static class GroupIdentity
{
    /// <summary>
    /// Bytes of an identity that an index takes as an id: one byte less than an id may have, so that one that was cut
    /// is told by its length.
    /// </summary>
    public const int MaxWholeBytes = TermKey.MaxBytes - 1;

    /// <summary>Appends what a key adds.</summary>
    /// <param name="json">The key's value.</param>
    /// <param name="identity">Takes it.</param>
    public static void Append(ReadOnlySpan<byte> json, PooledBytes identity)
    {
        Span<byte> room = identity.Reserve(TermKey.MaxBytes + sizeof(ushort));
        int length = TermKey.Write(json, isExact: true, room);

        // Behind the key, so that groups stand in the order of the keys' bytes, and yet no two lists of keys are one.
        BinaryPrimitives.WriteUInt16BigEndian(room[length..], (ushort)length);
        identity.Advance(length + sizeof(ushort));
    }

    /// <summary>An identity as the id of an entry: of a long one the beginning, and a hash of all.</summary>
    /// <param name="identity">The identity.</param>
    /// <param name="destination">At least <see cref="TermKey.MaxBytes"/> bytes.</param>
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
    /// Whether an id holds only the beginning of its identity: then it does not say where its group stands.
    /// </summary>
    public static bool IsCut(ReadOnlySpan<byte> id) => id.Length > MaxWholeBytes;
}
