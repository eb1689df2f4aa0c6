using System.Buffers;
using System.Buffers.Text;
using System.Globalization;
using System.Text;

namespace Rookery.Json;

/// <summary>
/// Handles escapes in JSON strings and whitespace between tokens. Inputs must be valid unless stated otherwise.
/// </summary>
public static class JsonText
{
    private const int MaxBytesOfCharacter = 4;

    private static readonly SearchValues<byte> NeedsEscape = SearchValues.Create([
        .. Enumerable.Range(0, 0x20).Select(value => (byte)value),
        (byte)'"',
        (byte)'\\',
    ]);

    private static readonly SearchValues<byte> QuoteOrWhitespace = SearchValues.Create("\" \t\r\n"u8);

    /// <summary>Writes the content of a string with its escapes resolved.</summary>
    /// <param name="raw">The content of the string.</param>
    /// <param name="destination">At least as long as <paramref name="raw"/>, because the result is never
    /// longer.</param>
    /// <returns>Number of bytes written.</returns>
    public static int Unescape(ReadOnlySpan<byte> raw, Span<byte> destination)
    {
        int written = 0;
        while (true)
        {
            int escape = raw.IndexOf((byte)'\\');
            if (escape < 0)
            {
                raw.CopyTo(destination[written..]);
                return written + raw.Length;
            }

            raw[..escape].CopyTo(destination[written..]);
            written += escape;
            raw = raw[escape..];
            int escapeLength = UnescapeOne(raw, destination[written..], out int count);
            raw = raw[escapeLength..];
            written += count;
        }
    }

    /// <summary>
    /// Returns whether the content of a string, with escapes, equals a text. Stops at the first difference, and
    /// allocates nothing.
    /// </summary>
    public static bool IsText(ReadOnlySpan<byte> raw, ReadOnlySpan<byte> text)
    {
        Span<byte> character = stackalloc byte[MaxBytesOfCharacter];
        while (true)
        {
            int escape = raw.IndexOf((byte)'\\');
            if (escape < 0)
            {
                return raw.SequenceEqual(text);
            }

            if (!text.StartsWith(raw[..escape]))
            {
                return false;
            }

            text = text[escape..];
            raw = raw[escape..];
            int escapeLength = UnescapeOne(raw, character, out int count);
            raw = raw[escapeLength..];
            if (!text.StartsWith(character[..count]))
            {
                return false;
            }

            text = text[count..];
        }
    }

    /// <summary>Returns whether two strings, at least one with escapes, have the same text.</summary>
    public static bool AreEqual(ReadOnlySpan<byte> a, ReadOnlySpan<byte> b)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(a.Length + b.Length);
        int lengthA = Unescape(a, buffer);
        int lengthB = Unescape(b, buffer.AsSpan(lengthA));
        bool equal = buffer.AsSpan(0, lengthA).SequenceEqual(buffer.AsSpan(lengthA, lengthB));
        ArrayPool<byte>.Shared.Return(buffer);
        return equal;
    }

    /// <summary>
    /// Compares the texts of two strings by their bytes in UTF-8. Stops at the first difference, and allocates nothing.
    /// </summary>
    /// <param name="a">The content of a string, with escapes.</param>
    /// <param name="b">The content of another string, with escapes.</param>
    /// <returns>Negative, zero or positive, as the first text is before the second, equal to it or after it.</returns>
    public static int Compare(ReadOnlySpan<byte> a, ReadOnlySpan<byte> b)
    {
        if (!a.Contains((byte)'\\') && !b.Contains((byte)'\\'))
        {
            return a.SequenceCompareTo(b);
        }

        Span<byte> characterOfA = stackalloc byte[MaxBytesOfCharacter];
        Span<byte> characterOfB = stackalloc byte[MaxBytesOfCharacter];
        scoped ReadOnlySpan<byte> restOfA = a;
        scoped ReadOnlySpan<byte> restOfB = b;
        scoped ReadOnlySpan<byte> pieceOfA = default;
        scoped ReadOnlySpan<byte> pieceOfB = default;
        while (true)
        {
            pieceOfA = pieceOfA.IsEmpty ? ReadPiece(ref restOfA, characterOfA) : pieceOfA;
            pieceOfB = pieceOfB.IsEmpty ? ReadPiece(ref restOfB, characterOfB) : pieceOfB;
            int common = Math.Min(pieceOfA.Length, pieceOfB.Length);
            if (common == 0)
            {
                return pieceOfA.Length - pieceOfB.Length;
            }

            int order = pieceOfA[..common].SequenceCompareTo(pieceOfB[..common]);
            if (order != 0)
            {
                return order;
            }

            pieceOfA = pieceOfA[common..];
            pieceOfB = pieceOfB[common..];
        }
    }

    /// <summary>Writes a text as the content of a JSON string.</summary>
    /// <param name="text">Any UTF-8.</param>
    /// <param name="destination">At least six times as long as the text, or as long if <see cref="IsPlain"/>.</param>
    /// <returns>Number of bytes written.</returns>
    public static int Escape(ReadOnlySpan<byte> text, Span<byte> destination)
    {
        int written = 0;
        while (true)
        {
            int toEscape = text.IndexOfAny(NeedsEscape);
            if (toEscape < 0)
            {
                text.CopyTo(destination[written..]);
                return written + text.Length;
            }

            text[..toEscape].CopyTo(destination[written..]);
            written += toEscape;
            destination[written++] = (byte)'\\';
            byte value = text[toEscape];
            if (value is (byte)'"' or (byte)'\\')
            {
                destination[written++] = value;
            }
            else
            {
                "u00"u8.CopyTo(destination[written..]);
                written += 3;
                Utf8Formatter.TryFormat(value, destination[written..], out int digits, new StandardFormat('x', 2));
                written += digits;
            }

            text = text[(toEscape + 1)..];
        }
    }

    /// <summary>Writes a text as a JSON string with quotes.</summary>
    /// <param name="output">Receives the string.</param>
    /// <param name="text">Valid UTF-8.</param>
    public static void WriteString(IBufferWriter<byte> output, ReadOnlySpan<byte> text)
    {
        Span<byte> span = output.GetSpan(EscapedBytes(text) + 2);
        span[0] = (byte)'"';
        int end = 1 + Escape(text, span[1..]);
        span[end] = (byte)'"';
        output.Advance(end + 1);
    }

    /// <summary>Returns the maximum bytes of a text as the content of a JSON string.</summary>
    public static int EscapedBytes(ReadOnlySpan<byte> text) => IsPlain(text) ? text.Length : text.Length * 6;

    /// <summary>Returns whether a text needs no escapes in JSON.</summary>
    public static bool IsPlain(ReadOnlySpan<byte> text) => !text.ContainsAny(NeedsEscape);

    /// <summary>Copies JSON and drops the whitespace between tokens.</summary>
    /// <param name="json">Valid JSON.</param>
    /// <param name="destination">At least as long as <paramref name="json"/>.</param>
    /// <returns>Number of bytes written.</returns>
    public static int Minimise(ReadOnlySpan<byte> json, Span<byte> destination)
    {
        int written = 0;
        while (true)
        {
            int at = json.IndexOfAny(QuoteOrWhitespace);
            if (at < 0)
            {
                json.CopyTo(destination[written..]);
                return written + json.Length;
            }

            bool isString = json[at] == (byte)'"';
            int copied = isString ? SkipString(json, at) : at;
            json[..copied].CopyTo(destination[written..]);
            written += copied;
            json = json[(isString ? copied : at + 1)..];
        }
    }

    /// <summary>Returns the offset after the string whose opening quote is at <paramref name="quote"/>.</summary>
    public static int SkipString(ReadOnlySpan<byte> json, int quote)
    {
        int at = quote + 1;
        while (true)
        {
            at += json[at..].IndexOfAny((byte)'"', (byte)'\\');
            if (json[at] == (byte)'"')
            {
                return at + 1;
            }

            at += 2;
        }
    }

    /// <summary>
    /// Returns the next part of a string's text: bytes up to the next escape, or one resolved escape; empty at the end.
    /// </summary>
    private static ReadOnlySpan<byte> ReadPiece(ref ReadOnlySpan<byte> raw, Span<byte> character)
    {
        int escape = raw.IndexOf((byte)'\\');
        if (escape == 0)
        {
            int escapeLength = UnescapeOne(raw, character, out int written);
            raw = raw[escapeLength..];
            return character[..written];
        }

        var piece = escape < 0 ? raw : raw[..escape];
        raw = raw[piece.Length..];
        return piece;
    }

    /// <summary>Resolves the escape at the start of <paramref name="raw"/> and returns its length in bytes.</summary>
    private static int UnescapeOne(ReadOnlySpan<byte> raw, Span<byte> destination, out int written)
    {
        byte kind = raw[1];
        if (kind != (byte)'u')
        {
            destination[0] = kind switch
            {
                (byte)'b' => (byte)'\b',
                (byte)'f' => (byte)'\f',
                (byte)'n' => (byte)'\n',
                (byte)'r' => (byte)'\r',
                (byte)'t' => (byte)'\t',
                _ => kind,
            };
            written = 1;
            return 2;
        }

        char first = (char)ushort.Parse(raw.Slice(2, 4), NumberStyles.AllowHexSpecifier);
        if (!char.IsHighSurrogate(first))
        {
            written = new Rune(first).EncodeToUtf8(destination);
            return 6;
        }

        char second = (char)ushort.Parse(raw.Slice(8, 4), NumberStyles.AllowHexSpecifier);
        written = new Rune(first, second).EncodeToUtf8(destination);
        return 12;
    }
}
