using System.Text;
using System.Text.Json;

namespace Rookery.Transfer;

/// <summary>
/// Goes through JSON of any length, one value of an object or array after the other, of which only that one is held.
/// </summary>
/// <param name="bytes">The input.</param>
internal sealed class JsonElements(ByteSource bytes)
{
    private const int DeepestLevel = 512;

    internal static readonly JsonReaderOptions Reading = new() { MaxDepth = DeepestLevel };

    private int _taken;

    /// <summary>How what was taken is to be parsed.</summary>
    public static JsonDocumentOptions Parsing => new() { MaxDepth = DeepestLevel };

    /// <summary>The first byte that is no white space, which stays.</summary>
    /// <exception cref="BadInputException">There is none.</exception>
    public byte Peek() =>
        TryPeek(out byte first)
            ? first
            : throw new BadInputException(
                $"The input ends at byte {bytes.Position} before its JSON does: it is cut off."
            );

    /// <summary>The first byte that is no white space, which stays.</summary>
    /// <returns>False at the end of the input.</returns>
    public bool TryPeek(out byte first)
    {
        bytes.Consume(_taken);
        _taken = 0;
        while (true)
        {
            int at = bytes.Window.Span.IndexOfAnyExcept(" \t\r\n"u8);
            if (at >= 0)
            {
                bytes.Consume(at);
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

    /// <summary>Goes past the mark that some programs put at the beginning.</summary>
    public void SkipByteOrderMark()
    {
        if (TryPeek(out _) && bytes.Window.Span.StartsWith(NdjsonSource.ByteOrderMark))
        {
            bytes.Consume(NdjsonSource.ByteOrderMark.Length);
        }
    }

    /// <summary>Takes a byte that must stand there.</summary>
    /// <exception cref="BadInputException">Another one does.</exception>
    public void Take(char expected)
    {
        byte found = Peek();
        if (found != expected)
        {
            throw new BadInputException($"At byte {bytes.Position} stands '{(char)found}' where '{expected}' must.");
        }

        bytes.Consume(1);
    }

    /// <summary>Takes a comma, or, where the whole ends, what closes it.</summary>
    /// <returns>Whether another member follows.</returns>
    public bool TakeCommaOr(char close)
    {
        if (Peek() == ',')
        {
            bytes.Consume(1);
            return true;
        }

        Take(close);
        return false;
    }

    /// <summary>Takes a whole value.</summary>
    /// <returns>Its bytes, valid until the next is taken.</returns>
    /// <exception cref="BadInputException">It is no JSON.</exception>
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
                    $"Behind byte {bytes.Position + OffsetOf(malformed, bytes.Window.Span)} of the unpacked input "
                        + $"is no JSON: {SentenceOf(malformed)}"
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
                    $"The input ends within the value that begins at byte {bytes.Position}: it is cut off."
                );
            }
        }
    }

    /// <summary>Takes a text.</summary>
    public string TakeText()
    {
        Peek();
        var reader = new Utf8JsonReader(TakeValue().Span);
        return reader.Read() && reader.TokenType == JsonTokenType.String
            ? reader.GetString()!
            : throw new BadInputException(
                $"At byte {bytes.Position} a name must stand, and {Encoding.UTF8.GetString(reader.ValueSpan)} does."
            );
    }

    /// <summary>Goes past bytes that are no JSON, right behind the value that was taken last.</summary>
    public void Skip(long count)
    {
        bytes.Consume(_taken);
        _taken = 0;
        bytes.Skip(count);
    }

    /// <summary>Where the reader stopped. It counts bytes from the last line of what it was given.</summary>
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

    /// <summary>What is wrong, without the reader's own place, which is not that of the input.</summary>
    private static string SentenceOf(JsonException malformed) =>
        malformed.Message.IndexOf(" LineNumber:", StringComparison.Ordinal) is >= 0 and var place
            ? malformed.Message[..place]
            : malformed.Message;
}
