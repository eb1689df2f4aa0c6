using System.Security.Cryptography;

namespace Rookery.Documents.Commands;

/// <summary>
/// Creates the ids of documents that are stored without one: random GUIDs (version 4). Called by the encoder, never by
/// apply.
/// </summary>
internal static class GuidId
{
    public const int Length = 36;

    /// <summary>Writes a new id into <paramref name="destination"/> and returns it.</summary>
    public static ReadOnlySpan<byte> Create(Span<byte> destination)
    {
        Span<byte> random = stackalloc byte[16];
        RandomNumberGenerator.Fill(random);

        // Version 4 and variant 1 (RFC 9562).
        random[6] = (byte)((random[6] & 0x0F) | 0x40);
        random[8] = (byte)((random[8] & 0x3F) | 0x80);
        new Guid(random, bigEndian: true).TryFormat(destination, out int written);
        return destination[..written];
    }
}
