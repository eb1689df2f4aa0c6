using Rookery.Platform;

namespace Rookery.Redis.Protocol;

/// <summary>
/// Splits inline commands: arguments between spaces, or in quotes. Between double quotes <c>\n \r \t \b \a</c> and
/// <c>\xHH</c> stand for bytes, between single quotes <c>\'</c> for a quote, as in Redis.
/// </summary>
internal static class InlineArguments
{
    /// <summary>
    /// Splits a line. Unquoted arguments overwrite the line, because they are no longer than their text.
    /// </summary>
    /// <param name="line">The line without its end.</param>
    /// <param name="add">Receives begin and length of each argument in the line.</param>
    /// <returns>False if a quote is not closed, or is not followed by a space.</returns>
    public static bool TrySplit(Span<byte> line, Func<int, int, bool> add)
    {
        int position = 0;
        while (true)
        {
            while (position < line.Length && IsSpace(line[position]))
            {
                position++;
            }

            if (position == line.Length)
            {
                return true;
            }

            int begin = position;
            if (!TryReadOne(line, ref position, out int length))
            {
                return false;
            }

            Invariant.Holds(add(begin, length), "a line has room for its arguments");
        }
    }

    // Writes the argument at the position where its text begins.
    private static bool TryReadOne(Span<byte> line, ref int position, out int length)
    {
        int begin = position;
        length = 0;
        while (position < line.Length && !IsSpace(line[position]) && line[position] != 0)
        {
            byte value = line[position++];
            if (value is (byte)'"' or (byte)'\'')
            {
                return TryReadQuoted(line, value, begin, ref position, ref length)
                    && (position == line.Length || IsSpace(line[position]));
            }

            line[begin + length++] = value;
        }

        if (position < line.Length && line[position] == 0)
        {
            // Redis reads an inline command as a C string.
            position = line.Length;
        }

        return true;
    }

    private static bool TryReadQuoted(Span<byte> line, byte quote, int begin, ref int position, ref int length)
    {
        while (position < line.Length)
        {
            byte value = line[position++];
            if (value == quote)
            {
                return true;
            }

            if (value == (byte)'\\' && position < line.Length)
            {
                value = quote == (byte)'"' ? ReadEscape(line, ref position) : ReadQuote(line, ref position);
            }

            line[begin + length++] = value;
        }

        return false;
    }

    private static byte ReadQuote(ReadOnlySpan<byte> line, ref int position)
    {
        if (line[position] != (byte)'\'')
        {
            return (byte)'\\';
        }

        position++;
        return (byte)'\'';
    }

    private static byte ReadEscape(ReadOnlySpan<byte> line, ref int position)
    {
        if (
            line[position] == (byte)'x'
            && position + 2 < line.Length
            && char.IsAsciiHexDigit((char)line[position + 1])
            && char.IsAsciiHexDigit((char)line[position + 2])
        )
        {
            int value = (Digit(line[position + 1]) << 4) | Digit(line[position + 2]);
            position += 3;
            return (byte)value;
        }

        return line[position++] switch
        {
            (byte)'n' => (byte)'\n',
            (byte)'r' => (byte)'\r',
            (byte)'t' => (byte)'\t',
            (byte)'b' => (byte)'\b',
            (byte)'a' => (byte)'\a',
            byte other => other,
        };
    }

    private static int Digit(byte hexadecimal) =>
        hexadecimal <= (byte)'9' ? hexadecimal - '0' : (hexadecimal | 0x20) - 'a' + 10;

    private static bool IsSpace(byte value) => value is (byte)' ' or (>= (byte)'\t' and <= (byte)'\r');
}
