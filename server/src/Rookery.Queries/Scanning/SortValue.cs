using System.Buffers.Binary;
using Rookery.Json;
using Rookery.Queries.Language;
using Rookery.Search.Values;

namespace Rookery.Queries.Scanning;

/// <summary>Writes a value for <c>order by</c> as bytes that compare in the wanted order.</summary>
public static class SortValue
{
    /// <summary>Maximum number of bytes.</summary>
    public const int MaxBytes = TermKey.MaxBytes;

    /// <summary>
    /// Writes the bytes of a value. A value of a kind that the order does not compare is written as null, which comes
    /// first.
    /// </summary>
    /// <param name="kind">The kind of order, by a field.</param>
    /// <param name="json">The value.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/> bytes.</param>
    /// <returns>Bytes written.</returns>
    public static int Write(OrderKind kind, ReadOnlySpan<byte> json, Span<byte> destination)
    {
        bool isNumber = json[0] is (byte)'-' or (>= (byte)'0' and <= (byte)'9');
        return (kind, isNumber) switch
        {
            (OrderKind.Natural, _) => TermKey.Write(json, isExact: false, destination),
            (OrderKind.Double, true) => NumberKey.Write(json, destination),
            (OrderKind.Long, true) => NumberKey.WriteWhole(json, destination),
            (OrderKind.Double or OrderKind.Long, false) => TermKey.WriteNull(destination),
            (_, true) => WriteNumberText(kind, json, destination),
            _ => json[0] == (byte)'n' ? TermKey.WriteNull(destination) : WriteText(kind, json, destination),
        };
    }

    /// <summary>Writes null as the greatest value.</summary>
    /// <returns>Bytes written.</returns>
    internal static int WriteGreatestNull(Span<byte> destination)
    {
        destination[0] = byte.MaxValue; // above the first byte of each kind of value
        return 1;
    }

    /// <summary>Replaces null, if it was written, by the greatest value.</summary>
    /// <param name="written">The written value.</param>
    /// <param name="length">Its length; negative if nothing was written.</param>
    /// <returns>The new length.</returns>
    internal static int ReplaceNull(Span<byte> written, int length) =>
        length > 0 && TermKey.KindOf(written) == ValueKind.Null ? WriteGreatestNull(written) : length;

    /// <summary>Writes the bytes of a value from its key in an index.</summary>
    /// <param name="kind">The kind of order, by a field.</param>
    /// <param name="key">The value's <see cref="TermKey"/>, in lower case.</param>
    /// <param name="destination">At least <see cref="MaxBytes"/> bytes.</param>
    /// <returns>Bytes written; -1 if the key is a truncated object, so that the value must be read from the
    /// document.</returns>
    internal static int WriteOfKey(OrderKind kind, ReadOnlySpan<byte> key, Span<byte> destination)
    {
        ValueKind valueKind = TermKey.KindOf(key);
        if (valueKind == ValueKind.Number && kind is not (OrderKind.Natural or OrderKind.Double))
        {
            Span<byte> number = stackalloc byte[NumberKey.MaxJsonBytes];
            return Write(kind, number[..NumberKey.WriteJson(key, number)], destination);
        }

        if (kind is OrderKind.Double or OrderKind.Long && valueKind != ValueKind.Number)
        {
            return TermKey.WriteNull(destination);
        }

        if (
            kind is OrderKind.Natural or OrderKind.Double
            || valueKind == ValueKind.Null
            || (kind == OrderKind.Text && valueKind == ValueKind.Text)
        )
        {
            key.CopyTo(destination);
            return key.Length;
        }

        return valueKind switch
        {
            ValueKind.Text => WriteRuns(key[1..Math.Min(key.Length, 1 + TermKey.MaxTextBytes)], destination),
            ValueKind.Boolean => Write(
                kind,
                key[0] == TermKey.LastByteOf(ValueKind.Boolean) ? "true"u8 : "false"u8,
                destination
            ),
            _ => TermKey.IsTruncated(key) ? -1 : Write(kind, key[1..], destination),
        };
    }

    private static int WriteNumberText(OrderKind kind, ReadOnlySpan<byte> json, Span<byte> destination)
    {
        Span<byte> key = stackalloc byte[NumberKey.MaxBytes];
        Span<byte> text = stackalloc byte[NumberKey.MaxJsonBytes];
        int length = NumberKey.WriteJson(key[..NumberKey.Write(json, key)], text);
        return kind == OrderKind.Text
            ? TermKey.WriteText(text[..length], isExact: false, destination)
            : WriteRuns(text[..length], destination);
    }

    private static int WriteText(OrderKind kind, ReadOnlySpan<byte> json, Span<byte> destination)
    {
        int length =
            json[0] == (byte)'"'
                ? TermKey.Write(json, isExact: false, destination)
                : TermKey.WriteText(json, isExact: false, destination);
        if (kind == OrderKind.Text)
        {
            return length;
        }

        Span<byte> text = stackalloc byte[TermKey.MaxTextBytes];
        int textLength = Math.Min(length - 1, text.Length);
        destination.Slice(1, textLength).CopyTo(text);
        return WriteRuns(text[..textLength], destination);
    }

    /// <summary>
    /// Writes a text so that its runs of digits compare as numbers. A run is written as '0', its number of digits
    /// without leading zeros (two bytes), and those digits. Text beyond the destination's length is not compared.
    /// </summary>
    private static int WriteRuns(ReadOnlySpan<byte> text, Span<byte> destination)
    {
        const int RunHeadBytes = 3;
        destination = destination[..MaxBytes];
        destination[0] = TermKey.TextByte;
        int at = 1;
        while (!text.IsEmpty && at < destination.Length)
        {
            int digits = text.IndexOfAnyExceptInRange((byte)'0', (byte)'9');
            digits = digits < 0 ? text.Length : digits;
            if (digits == 0)
            {
                destination[at++] = text[0];
                text = text[1..];
                continue;
            }

            ReadOnlySpan<byte> run = text[..digits].TrimStart((byte)'0');
            if (at + RunHeadBytes + run.Length > destination.Length)
            {
                break;
            }

            destination[at] = (byte)'0';
            BinaryPrimitives.WriteUInt16BigEndian(destination[(at + 1)..], (ushort)run.Length);
            run.CopyTo(destination[(at + RunHeadBytes)..]);
            at += RunHeadBytes + run.Length;
            text = text[digits..];
        }

        return at;
    }
}
