using Rookery.Documents.Json;

namespace Rookery.Documents.Commands;

/// <summary>The hash under which a client's Idempotency-Key is remembered: the first 128 bits of its SHA-256.</summary>
/// <param name="High">Bytes 0 to 7, big-endian.</param>
/// <param name="Low">Bytes 8 to 15, big-endian.</param>
public readonly record struct IdempotencyKey(ulong High, ulong Low)
{
    /// <summary>Bytes of a client's key at most.</summary>
    public const int MaxKeyBytes = 128;

    /// <summary>No key: the command is not remembered.</summary>
    public static IdempotencyKey None => default;

    /// <summary>True when there is a key.</summary>
    public bool IsPresent => (High | Low) != 0;

    /// <summary>Hashes a client's key of 1 to <see cref="MaxKeyBytes"/> bytes.</summary>
    public static bool TryCreate(ReadOnlySpan<byte> clientKey, out IdempotencyKey key, out InputError error) => throw new NotSupportedException();
}
