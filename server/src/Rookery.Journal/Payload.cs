namespace Rookery.Journal;

/// <summary>
/// The replicated part of a frame, the same bytes on every node:
/// <c>[u8 compression][3 zero bytes][u32 uncompressed length][bytes][u32 CRC-32C of all before]</c>, little-endian.
/// </summary>
public static class Payload
{
    /// <summary>Bytes an encoded payload adds to its content.</summary>
    public const int OverheadBytes = 12;

    /// <summary>The most bytes <see cref="Encode"/> writes for <paramref name="contentLength"/> bytes.</summary>
    public static int MaxEncodedLength(int contentLength) => checked(contentLength + OverheadBytes);

    /// <summary>Encodes <paramref name="content"/>, compressed when that saves at least an eighth of more than one disk block.</summary>
    /// <param name="content">Any bytes.</param>
    /// <param name="destination">At least <see cref="MaxEncodedLength"/> bytes.</param>
    /// <returns>Bytes written.</returns>
    public static int Encode(ReadOnlySpan<byte> content, Span<byte> destination) => throw new NotSupportedException();

    /// <summary>The length of the content of an encoded payload, or -1 when the bytes are no payload. Checks the envelope, not the checksum.</summary>
    public static int ContentLength(ReadOnlySpan<byte> encoded) => throw new NotSupportedException();

    /// <summary>Checks and decodes a payload.</summary>
    /// <param name="encoded">What <see cref="Encode"/> made.</param>
    /// <param name="destination">Exactly <see cref="ContentLength"/> bytes.</param>
    /// <returns>False when the checksum does not match or the content does not decompress to its length.</returns>
    public static bool TryDecode(ReadOnlySpan<byte> encoded, Span<byte> destination) => throw new NotSupportedException();
}
