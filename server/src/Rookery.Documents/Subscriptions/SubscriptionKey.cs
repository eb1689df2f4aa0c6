using System.Buffers.Binary;
using Rookery.Documents.Apply;

namespace Rookery.Documents.Subscriptions;

/// <summary>
/// Keys of <see cref="Table.Subscriptions"/>: the prefix alone for the counters, a zero byte and the number for a
/// progress, the lower-cased name for a definition. No name begins with a zero byte.
/// </summary>
internal static class SubscriptionKey
{
    private const int ProgressBytes = 1 + sizeof(long);

    /// <summary>Writes the key of a subscription's progress.</summary>
    public static ReadOnlySpan<byte> WriteProgress(Span<byte> buffer, uint database, long number)
    {
        Key.WritePrefix(buffer, database, Table.Subscriptions);
        buffer[Key.PrefixBytes] = 0;
        BinaryPrimitives.WriteInt64BigEndian(buffer[(Key.PrefixBytes + 1)..], number);
        return buffer[..(Key.PrefixBytes + ProgressBytes)];
    }

    /// <summary>Writes the smallest key of a definition.</summary>
    public static ReadOnlySpan<byte> WriteFirstDefinition(Span<byte> buffer, uint database)
    {
        Key.WritePrefix(buffer, database, Table.Subscriptions);
        buffer[Key.PrefixBytes] = 1;
        return buffer[..(Key.PrefixBytes + 1)];
    }
}
