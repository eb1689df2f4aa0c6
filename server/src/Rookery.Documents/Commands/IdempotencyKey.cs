using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Documents.Parsing;
using Rookery.Json;

namespace Rookery.Documents.Commands;

/// <summary>Hash of a client's Idempotency-Key: the first 128 bits of its SHA-256.</summary>
/// <param name="High">Bytes 0 to 7, big-endian.</param>
/// <param name="Low">Bytes 8 to 15, big-endian.</param>
public readonly record struct IdempotencyKey(ulong High, ulong Low)
{
    /// <summary>Maximum length of a client's key, in bytes.</summary>
    public const int MaxKeyBytes = 128;

    /// <summary>Length of a hash, in bytes.</summary>
    public const int Length = 16;

    /// <summary>No key: the outcome is not stored.</summary>
    public static IdempotencyKey None => default;

    /// <summary>Whether there is a key.</summary>
    public bool IsPresent => (High | Low) != 0;

    /// <summary>Creates a random key, for commands that the server itself may propose twice.</summary>
    public static IdempotencyKey Create()
    {
        Span<byte> random = stackalloc byte[Length];
        RandomNumberGenerator.Fill(random);
        return Read(random);
    }

    /// <summary>Hashes a client's key of 1 to <see cref="MaxKeyBytes"/> bytes.</summary>
    public static bool TryCreate(ReadOnlySpan<byte> clientKey, out IdempotencyKey key, out InputError error)
    {
        key = default;
        error = default;
        if (clientKey.Length is 0 or > MaxKeyBytes)
        {
            error = InputErrors.InParameter(
                InputErrorCode.InvalidIdempotencyKey,
                "Idempotency-Key",
                $"The idempotency key takes {clientKey.Length} bytes",
                $"Send 1 to {MaxKeyBytes} bytes, for instance a UUID"
            );
            return false;
        }

        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(clientKey, hash);
        key = Read(hash);
        return true;
    }

    /// <summary>Reads a hash.</summary>
    internal static IdempotencyKey Read(ReadOnlySpan<byte> source) =>
        new(BinaryPrimitives.ReadUInt64BigEndian(source), BinaryPrimitives.ReadUInt64BigEndian(source[8..]));

    /// <summary>Writes the hash, <see cref="Length"/> bytes.</summary>
    public void Write(Span<byte> destination)
    {
        BinaryPrimitives.WriteUInt64BigEndian(destination, High);
        BinaryPrimitives.WriteUInt64BigEndian(destination[8..], Low);
    }
}
