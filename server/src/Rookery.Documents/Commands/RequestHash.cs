using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Distinguishes a retry from another request with the same idempotency key: the first 128 bits of the SHA-256 of the
/// command, without its key and without GUIDs that the server chose. The encoder computes it, so apply only compares.
/// </summary>
internal static class RequestHash
{
    /// <summary>Bytes of a hash.</summary>
    public const int Length = 16;

    /// <summary>
    /// Writes the hash into the header of a finished command that has a key. GUIDs that the server chooses must still
    /// be zero.
    /// </summary>
    public static void Write(CommandBuffer command)
    {
        Span<byte> written = command.WrittenSpan;
        if ((written[CommandFormat.FlagsOffset] & CommandFormat.HeaderHasKey) == 0)
        {
            return;
        }

        Span<byte> key = stackalloc byte[IdempotencyKey.Length];
        Span<byte> keyAndHash = written[CommandFormat.FixedHeaderBytes..CommandFormat.KeyedHeaderBytes];
        Invariant.Holds(
            !keyAndHash[IdempotencyKey.Length..].ContainsAnyExcept((byte)0),
            "the hash of a command is written once"
        );
        keyAndHash[..IdempotencyKey.Length].CopyTo(key);
        keyAndHash.Clear();
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(written, hash);
        key.CopyTo(keyAndHash);
        hash[..Length].CopyTo(keyAndHash[IdempotencyKey.Length..]);
    }

    /// <summary>Reads a hash.</summary>
    public static UInt128 Read(ReadOnlySpan<byte> source) => BinaryPrimitives.ReadUInt128BigEndian(source);
}
