using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Documents.Parsing;
using Rookery.Json;

namespace Rookery.Documents.Commands;

/// <summary>The hash under which a client's Idempotency-Key is remembered: the first 128 bits of its SHA-256.</summary>
/// <param name="High">Bytes 0 to 7, big-endian.</param>
/// <param name="Low">Bytes 8 to 15, big-endian.</param>
public readonly record struct IdempotencyKey(ulong High, ulong Low)
{
    /// <summary>Bytes of a client's key at most.</summary>
    public const int MaxKeyBytes = 128;

    /// <summary>Bytes of a hash.</summary>
    public const int Length = 16;

    /// <summary>No key: the command is not remembered.</summary>
    public static IdempotencyKey None => default;

    /// <summary>True when there is a key.</summary>
    public bool IsPresent => (High | Low) != 0;

    /// <summary>A key by chance, for what the server itself may propose again.</summary>
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
