using Rookery.Journal;

namespace Rookery.Cluster.Log;

/// <summary>
/// Encodes and decodes votes and configurations in the format of journal payloads (<see cref="Payload"/>).
/// </summary>
internal static class StoredBytes
{
    public static byte[] Encode(ReadOnlySpan<byte> content)
    {
        byte[] encoded = new byte[Payload.MaxEncodedLength(content.Length)];
        int length = Payload.Encode(content, encoded);
        return encoded[..length];
    }

    /// <summary>Returns the content of a payload.</summary>
    /// <exception cref="JournalFormatException">The payload does not decode.</exception>
    public static byte[] Decode(ReadOnlySpan<byte> payload)
    {
        int length = Payload.ContentLength(payload);
        byte[] content = new byte[Math.Max(length, 0)];
        return length >= 0 && Payload.TryDecode(payload, content)
            ? content
            : throw new JournalFormatException(
                "A vote or a configuration in the journal does not decode: a newer version of Rookery wrote it."
            );
    }
}
