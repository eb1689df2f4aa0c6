using System.Buffers;
using System.Security.Cryptography;
using Rookery.Json;

namespace Rookery.Search.Values;

/// <summary>
/// Encodes values as bytes that compare like the values. The order is: null, false, true, numbers by value, texts
/// without case, texts with case, objects and arrays by their JSON text. Scans, dictionaries of indexes and sort
/// columns use the same keys.
/// </summary>
/// <remarks>
/// <para>The first byte is the kind of value. Numbers are encoded by <see cref="NumberKey"/>, dates by
/// <see cref="DateText"/>, and texts are folded by <see cref="TextFolding"/>.</para>
/// <para>The key of a text longer than <see cref="MaxTextBytes"/> contains that many of its bytes, and 16 bytes of a
/// hash (SHA-256) of the whole text. Equal keys mean equal texts, but long texts with the same first 512 bytes are
/// ordered by the hash. For such keys <see cref="IsTruncated"/> is true, and only the document has the whole
/// text.</para>
/// </remarks>
public static class TermKey
{
    /// <summary>Maximum bytes of a key.</summary>
    public const int MaxBytes = 1 + MaxTextBytes + HashBytes;

    /// <summary>Maximum bytes of a text that its key contains.</summary>
    public const int MaxTextBytes = 512;

    /// <summary>
    /// First byte of the keys of texts without case. The key of a prefix of a text is a prefix of the text's key,
    /// unless one of the two is a date.
    /// </summary>
    public const byte TextByte = 0x40;

    /// <summary>First byte of the keys of texts with case.</summary>
    public const byte ExactTextByte = 0x41;

    private const byte NullByte = 0x10;
    private const byte FalseByte = 0x20;
    private const byte TrueByte = 0x21;
    private const byte ContainerByte = 0x50;
    private const int HashBytes = 16;
    private const int PieceBytes = 4096;

    [ThreadStatic]
    private static IncrementalHash? _hasher;

    /// <summary>Writes the key of a stored value.</summary>
    /// <param name="json">The value as valid JSON without whitespace between tokens.</param>
    /// <param name="isExact">Whether texts keep their case. Dates are then written like other texts.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/> bytes.</param>
    /// <returns>Bytes written.</returns>
    public static int Write(ReadOnlySpan<byte> json, bool isExact, Span<byte> destination)
    {
        switch (json[0])
        {
            case (byte)'"':
                return WriteString(json[1..^1], isExact, destination);
            case (byte)'n':
                return WriteNull(destination);
            case (byte)'t' or (byte)'f':
                destination[0] = json[0] == (byte)'t' ? TrueByte : FalseByte;
                return 1;
            case (byte)'{' or (byte)'[':
                destination[0] = ContainerByte;
                return WriteTruncated(json, destination);
            default:
                return NumberKey.Write(json, destination);
        }
    }

    /// <summary>Writes the key of null, which is also the sort key of a missing value.</summary>
    public static int WriteNull(Span<byte> destination)
    {
        destination[0] = NullByte;
        return 1;
    }

    /// <summary>Writes the key of a text.</summary>
    /// <param name="text">The text in valid UTF-8.</param>
    /// <param name="isExact">Whether the text keeps its case. A date is then written like other texts.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/> bytes.</param>
    /// <returns>Bytes written.</returns>
    public static int WriteText(ReadOnlySpan<byte> text, bool isExact, Span<byte> destination)
    {
        destination[0] = isExact ? ExactTextByte : TextByte;
        if (isExact)
        {
            return WriteTruncated(text, destination);
        }

        if (DateText.TryWrite(text, destination[1..]))
        {
            return 1 + DateText.Length;
        }

        ReadOnlySpan<byte> unread = text;
        int written = 1 + TextFolding.Fold(ref unread, destination[1..(1 + MaxTextBytes)]);
        return unread.IsEmpty ? written : WriteTruncatedFolded(text, destination);
    }

    /// <summary>Returns the kind of a key's value.</summary>
    public static ValueKind KindOf(ReadOnlySpan<byte> key) =>
        key[0] switch
        {
            NullByte => ValueKind.Null,
            FalseByte or TrueByte => ValueKind.Boolean,
            TextByte => ValueKind.Text,
            ExactTextByte => ValueKind.ExactText,
            ContainerByte => ValueKind.Container,
            _ => ValueKind.Number,
        };

    /// <summary>Returns the least first byte of the keys of a kind.</summary>
    public static byte FirstByteOf(ValueKind kind) =>
        kind switch
        {
            ValueKind.Null => NullByte,
            ValueKind.Boolean => FalseByte,
            ValueKind.Number => NumberKey.Negative,
            ValueKind.Text => TextByte,
            ValueKind.ExactText => ExactTextByte,
            _ => ContainerByte,
        };

    /// <summary>Returns the greatest first byte of the keys of a kind.</summary>
    public static byte LastByteOf(ValueKind kind) =>
        kind switch
        {
            ValueKind.Boolean => TrueByte,
            ValueKind.Number => NumberKey.Positive,
            _ => FirstByteOf(kind),
        };

    /// <summary>Returns whether a key contains only the beginning of its text and a hash.</summary>
    public static bool IsTruncated(ReadOnlySpan<byte> key) => key.Length == MaxBytes;

    /// <summary>
    /// Writes the value of a key as JSON: a number in normal form, a text as the key contains it (in lower case unless
    /// exact, a date in UTC).
    /// </summary>
    /// <param name="key">A key for which <see cref="IsTruncated"/> is false.</param>
    /// <param name="output">Receives the JSON.</param>
    public static void WriteJson(ReadOnlySpan<byte> key, IBufferWriter<byte> output)
    {
        ArgumentOutOfRangeException.ThrowIfEqual(IsTruncated(key), true, nameof(key));
        switch (key[0])
        {
            case NullByte:
                output.Write("null"u8);
                return;
            case FalseByte:
                output.Write("false"u8);
                return;
            case TrueByte:
                output.Write("true"u8);
                return;
            case TextByte or ExactTextByte:
                JsonText.WriteString(output, key[1..]);
                return;
            case ContainerByte:
                output.Write(key[1..]);
                return;
            default:
                output.Advance(NumberKey.WriteJson(key, output.GetSpan(NumberKey.MaxJsonBytes)));
                return;
        }
    }

    private static int WriteString(ReadOnlySpan<byte> raw, bool isExact, Span<byte> destination)
    {
        if (!raw.Contains((byte)'\\'))
        {
            return WriteText(raw, isExact, destination);
        }

        byte[] buffer = ArrayPool<byte>.Shared.Rent(raw.Length);
        int written = WriteText(buffer.AsSpan(0, JsonText.Unescape(raw, buffer)), isExact, destination);
        ArrayPool<byte>.Shared.Return(buffer);
        return written;
    }

    /// <summary>Writes bytes unchanged after the kind, truncated with a hash if they are too long.</summary>
    private static int WriteTruncated(ReadOnlySpan<byte> bytes, Span<byte> destination)
    {
        bytes[..Math.Min(bytes.Length, MaxTextBytes)].CopyTo(destination[1..]);
        if (bytes.Length <= MaxTextBytes)
        {
            return 1 + bytes.Length;
        }

        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(bytes, hash);
        hash[..HashBytes].CopyTo(destination[(1 + MaxTextBytes)..]);
        return MaxBytes;
    }

    /// <summary>Writes a long text without case, piece by piece, because it may be a whole document.</summary>
    private static int WriteTruncatedFolded(ReadOnlySpan<byte> text, Span<byte> destination)
    {
        Span<byte> piece = stackalloc byte[PieceBytes];
        IncrementalHash hash = _hasher ??= IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        for (int copied = 0; !text.IsEmpty; )
        {
            ReadOnlySpan<byte> folded = piece[..TextFolding.Fold(ref text, piece)];
            hash.AppendData(folded);
            int part = Math.Min(folded.Length, MaxTextBytes - copied);
            folded[..part].CopyTo(destination[(1 + copied)..]);
            copied += part;
        }

        Span<byte> whole = stackalloc byte[SHA256.HashSizeInBytes];
        hash.GetHashAndReset(whole);
        whole[..HashBytes].CopyTo(destination[(1 + MaxTextBytes)..]);
        return MaxBytes;
    }
}
