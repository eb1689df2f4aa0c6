using System.Text.Json;

namespace Rookery.Transfer;

/// <summary>Reads JSON of any length value by value; only the current value is in memory.</summary>
/// <param name="bytes">The input.</param>
internal sealed class JsonElements(ByteSource bytes)
{
    /// <summary>The maximum nesting of a value.</summary>
    internal const int DeepestLevel = 512;

    internal static readonly JsonReaderOptions Reading = new() { MaxDepth = DeepestLevel };

    private int _taken; // length of the last value, which is consumed when the next one is taken

    /// <summary>Skips white space and returns the next byte without consuming it.</summary>
    /// <exception cref="BadInputException">The input ends.</exception>
    public byte Peek() =>
        TryPeek(out byte first)
            ? first
            : throw new BadInputException(
                $"The input is cut off: it ends at byte {bytes.Position}, before the end of its JSON."
            );

    /// <summary>Skips white space and reads the next byte without consuming it.</summary>
    /// <returns>False at the end of the input.</returns>
    public bool TryPeek(out byte first)
    {
        bytes.Consume(_taken);
        _taken = 0;
        while (true)
        {
            int start = bytes.Window.Span.IndexOfAnyExcept(" \t\r\n"u8);
            if (start >= 0)
            {
                bytes.Consume(start);
                first = bytes.Window.Span[0];
                return true;
            }

            bytes.Consume(bytes.Window.Length);
            if (!bytes.Fill())
            {
                first = 0;
                return false;
            }
        }
    }

    /// <summary>Skips a byte order mark at the beginning.</summary>
    public void SkipByteOrderMark()
    {
        if (TryPeek(out _) && bytes.Window.Span.StartsWith(NdjsonSource.ByteOrderMark))
        {
            bytes.Consume(NdjsonSource.ByteOrderMark.Length);
        }
    }

    /// <summary>Takes an expected byte.</summary>
    /// <exception cref="BadInputException">The next byte differs.</exception>
    public void Take(char expected)
    {
        if (Peek() != expected)
        {
            throw NotExpected($"'{expected}' is");
        }

        bytes.Consume(1);
    }

    /// <summary>Takes a comma, or the closing bracket at the end.</summary>
    /// <returns>Whether another member follows.</returns>
    public bool TakeCommaOr(char close)
    {
        byte next = Peek();
        if (next != ',' && next != close)
        {
            throw NotExpected($"',' or '{close}' is");
        }

        bytes.Consume(1);
        return next == ',';
    }

    private BadInputException NotExpected(string expected) =>
        new($"At byte {bytes.Position} {expected} expected, not '{(char)Peek()}'.");

    /// <summary>Takes a whole value.</summary>
    /// <returns>The bytes of the value, valid until the next one is taken.</returns>
    /// <exception cref="BadInputException">The input is not JSON.</exception>
    public ReadOnlyMemory<byte> TakeValue()
    {
        Peek();
        while (true)
        {
            bool isWhole = false;
            int length = 0;
            try
            {
                var reader = new Utf8JsonReader(bytes.Window.Span, isFinalBlock: false, new JsonReaderState(Reading));
                isWhole = reader.Read() && reader.TrySkip();
                length = (int)reader.BytesConsumed;
            }
            catch (JsonException malformed)
            {
                throw new BadInputException(
                    $"After byte {bytes.Position + OffsetOf(malformed, bytes.Window.Span)} the decompressed input "
                        + $"is not JSON: {SentenceOf(malformed)}"
                );
            }

            if (isWhole)
            {
                _taken = length;
                return bytes.Window[..length];
            }

            if (!bytes.Fill())
            {
                throw new BadInputException(
                    $"The input is cut off: it ends within the value that begins at byte {bytes.Position}."
                );
            }
        }
    }

    /// <summary>
    /// Returns the byte offset at which the JSON reader stopped. The reader reports a line, and a byte within the line.
    /// </summary>
    private static long OffsetOf(JsonException malformed, ReadOnlySpan<byte> window)
    {
        long offset = malformed.BytePositionInLine ?? 0;
        for (long line = malformed.LineNumber ?? 0; line > 0; line--)
        {
            int length = window.IndexOf((byte)'\n') + 1;
            offset += length;
            window = window[length..];
        }

        return offset;
    }

    /// <summary>Returns the reader's message without its position, which is not the position in the input.</summary>
    private static string SentenceOf(JsonException malformed)
    {
        int end = malformed.Message.IndexOf(" LineNumber:", StringComparison.Ordinal);
        return end < 0 ? malformed.Message : malformed.Message[..end];
    }
}
