using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Journal;

/// <summary>
/// Encodes and decodes payloads, the replicated part of frames, whose bytes are the same on every node: <c>[u8
/// compression][u8 mark, 0 or 1][2 zero bytes][u32 uncompressed length][bytes][u32 CRC-32C of all before]</c>,
/// little-endian. The mark tells without decoding that the content names files outside the log.
/// </summary>
public static class Payload
{
    /// <summary>Bytes that the encoding adds to the content.</summary>
    public const int OverheadBytes = 12;

    private const int EnvelopeBytes = 8;
    private const byte Plain = 0;
    private const byte Lz4Block = 1;
    private const int MarkOffset = 1;
    private const byte Marked = 1;

    /// <summary>
    /// Returns the maximum length that <see cref="Encode"/> writes for <paramref name="contentLength"/> bytes.
    /// </summary>
    public static int MaxEncodedLength(int contentLength) => checked(contentLength + OverheadBytes);

    /// <summary>
    /// Encodes <paramref name="content"/>. Compresses it if the frame exceeds one disk block and compression saves at
    /// least an eighth.
    /// </summary>
    /// <param name="content">Any bytes.</param>
    /// <param name="destination">At least <see cref="MaxEncodedLength"/> bytes.</param>
    /// <param name="isMarked">Whether to set the mark.</param>
    /// <returns>Bytes written.</returns>
    public static int Encode(ReadOnlySpan<byte> content, Span<byte> destination, bool isMarked = false)
    {
        destination[..EnvelopeBytes].Clear();
        destination[MarkOffset] = isMarked ? Marked : (byte)0;
        BinaryPrimitives.WriteInt32LittleEndian(destination[4..], content.Length);
        int stored = 0;

        // A write is padded to whole blocks, so compressing a frame that fits into one block saves nothing.
        if (content.Length + OverheadBytes + FrameHeader.Bytes > FrameLayout.BlockBytes)
        {
            stored = Lz4.Compress(content, destination.Slice(EnvelopeBytes, content.Length - (content.Length / 8)));
        }

        destination[0] = stored == 0 ? Plain : Lz4Block;
        if (stored == 0)
        {
            content.CopyTo(destination[EnvelopeBytes..]);
            stored = content.Length;
        }

        int end = EnvelopeBytes + stored;
        BinaryPrimitives.WriteUInt32LittleEndian(destination[end..], Checksum.Of(destination[..end]));
        return end + sizeof(uint);
    }

    /// <summary>
    /// Returns the length of the content of an encoded payload; -1 if the bytes are not a payload. Checks the envelope,
    /// not the checksum.
    /// </summary>
    public static int ContentLength(ReadOnlySpan<byte> encoded)
    {
        if (encoded.Length < OverheadBytes)
        {
            return -1;
        }

        int length = BinaryPrimitives.ReadInt32LittleEndian(encoded[4..]);
        bool zeros = encoded[MarkOffset] <= Marked && encoded[2] == 0 && encoded[3] == 0;
        return (zeros, encoded[0]) switch
        {
            (true, Plain) when length == encoded.Length - OverheadBytes => length,
            (true, Lz4Block) when length >= 0 => length,
            _ => -1,
        };
    }

    /// <summary>Returns whether an encoded payload has the mark. Looks only at its length and one byte.</summary>
    public static bool IsMarked(ReadOnlySpan<byte> encoded) =>
        encoded.Length >= OverheadBytes && encoded[MarkOffset] == Marked;

    /// <summary>Checks and decodes a payload.</summary>
    /// <param name="encoded">The output of <see cref="Encode"/>.</param>
    /// <param name="destination">Exactly <see cref="ContentLength"/> bytes.</param>
    /// <returns>False if the checksum does not match or the content does not decompress to its length.</returns>
    public static bool TryDecode(ReadOnlySpan<byte> encoded, Span<byte> destination)
    {
        if (ContentLength(encoded) != destination.Length || !IsIntact(encoded))
        {
            return false;
        }

        var stored = encoded[EnvelopeBytes..^sizeof(uint)];
        if (encoded[0] == Lz4Block)
        {
            return Lz4.TryDecompress(stored, destination);
        }

        stored.CopyTo(destination);
        return true;
    }

    /// <summary>Returns whether the checksum at the end matches the bytes before it.</summary>
    public static bool IsIntact(ReadOnlySpan<byte> encoded) =>
        encoded.Length >= OverheadBytes && Checksum.Of(encoded[..^sizeof(uint)]) == ChecksumIn(encoded);

    /// <summary>Returns the checksum at the end of an encoded payload; 0 without payload.</summary>
    internal static uint ChecksumIn(ReadOnlySpan<byte> encoded) =>
        encoded.IsEmpty ? 0 : BinaryPrimitives.ReadUInt32LittleEndian(encoded[^sizeof(uint)..]);
}
