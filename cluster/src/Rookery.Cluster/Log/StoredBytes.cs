using Rookery.Journal;

namespace Rookery.Cluster.Log;

/// <summary>Short contents in the envelope that every payload of the journal has.</summary>
internal static class StoredBytes
{
    public static byte[] Encode(ReadOnlySpan<byte> content)
    {
        byte[] encoded = new byte[Payload.MaxEncodedLength(content.Length)];
        return encoded[..Payload.Encode(content, encoded)];
    }

    /// <summary>The content.</summary>
    /// <exception cref="JournalFormatException">It does not decode.</exception>
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
