using System.Buffers.Text;

namespace Rookery.Redis.Protocol;

/// <summary>
/// Translates replies of version 3 of the protocol to version 2: maps become flat arrays, sets and pushes arrays,
/// doubles and big numbers strings, Booleans 0 or 1, and nulls the null string or array. An array of pairs, the reply
/// of HRANDFIELD with values, becomes a flat array.
/// </summary>
internal static class ReplyTranslation
{
    /// <summary>Deepest nesting of a reply.</summary>
    private const int MaxDepth = 16;

    private static ReadOnlySpan<byte> PairStart => "*2\r\n"u8;

    /// <summary>Appends a reply in the version of a buffer.</summary>
    /// <param name="reply">One whole reply of version 3.</param>
    /// <param name="to">The buffer.</param>
    /// <param name="isNullArray">Whether null stands for an array in version 2.</param>
    /// <exception cref="FormatException">The bytes are not one whole reply.</exception>
    public static void Append(ReadOnlySpan<byte> reply, ReplyBuffer to, bool isNullArray)
    {
        if (to.Version == 3 || reply[0] is (byte)'+' or (byte)'-' or (byte)':' or (byte)'$')
        {
            to.Append(reply);
            return;
        }

        if (reply[0] == (byte)'_' && isNullArray)
        {
            to.NullArray();
            return;
        }

        int position = 0;
        TranslateOne(reply, ref position, to, depth: 0);
        if (position != reply.Length)
        {
            throw new FormatException("Bytes follow a reply.");
        }
    }

    private static void TranslateOne(ReadOnlySpan<byte> reply, ref int position, ReplyBuffer to, int depth)
    {
        if (depth > MaxDepth || position == reply.Length)
        {
            throw new FormatException("A reply is nested too deeply, or ends before its last item.");
        }

        int begin = position;
        byte type = reply[position++];
        var line = ReadLine(reply, ref position);
        switch (type)
        {
            case (byte)'+' or (byte)'-' or (byte)':':
                to.Append(reply[begin..position]);
                break;
            case (byte)'$':
                _ = ReadBytes(reply, ref position, ParseCount(line));
                to.Append(reply[begin..position]);
                break;
            case (byte)'=':
                // Three letters and a colon name the format.
                to.Bulk(ReadBytes(reply, ref position, Math.Max(ParseCount(line), 4))[4..]);
                break;
            case (byte)'_':
                to.Null();
                break;
            case (byte)'#':
                to.Integer(line[0] == (byte)'t' ? 1 : 0);
                break;
            case (byte)',' or (byte)'(':
                to.Bulk(line);
                break;
            case (byte)'*' when reply[position..].StartsWith(PairStart):
                TranslatePairs(reply, ref position, to, (int)ParseCount(line), depth);
                break;
            case (byte)'*' or (byte)'~' or (byte)'>':
                TranslateMany(reply, ref position, to, (int)ParseCount(line), depth);
                break;
            case (byte)'%':
                TranslateMany(reply, ref position, to, 2 * (int)ParseCount(line), depth);
                break;
            default:
                throw new FormatException("A reply begins with an unknown byte.");
        }
    }

    private static void TranslateMany(ReadOnlySpan<byte> reply, ref int position, ReplyBuffer to, int count, int depth)
    {
        to.Array(count);
        for (int i = 0; i < count; i++)
        {
            TranslateOne(reply, ref position, to, depth + 1);
        }
    }

    private static void TranslatePairs(ReadOnlySpan<byte> reply, ref int position, ReplyBuffer to, int count, int depth)
    {
        to.Array(2 * count);
        for (int i = 0; i < count; i++)
        {
            if (!reply[position..].StartsWith(PairStart))
            {
                throw new FormatException("An array of pairs has another item.");
            }

            position += PairStart.Length;
            TranslateOne(reply, ref position, to, depth + 1);
            TranslateOne(reply, ref position, to, depth + 1);
        }
    }

    private static ReadOnlySpan<byte> ReadLine(ReadOnlySpan<byte> reply, ref int position)
    {
        int length = reply[position..].IndexOf("\r\n"u8);
        if (length < 0)
        {
            throw new FormatException("A reply ends within a line.");
        }

        var line = reply.Slice(position, length);
        position += length + 2;
        return line;
    }

    private static ReadOnlySpan<byte> ReadBytes(ReadOnlySpan<byte> reply, ref int position, long count)
    {
        if (count + 2 > reply.Length - position)
        {
            throw new FormatException("A reply ends within a string.");
        }

        var bytes = reply.Slice(position, (int)count);
        position += (int)count + 2;
        return bytes;
    }

    private static long ParseCount(ReadOnlySpan<byte> line) =>
        Utf8Parser.TryParse(line, out long count, out int length) && length == line.Length && count >= 0
            ? count
            : throw new FormatException("A reply has an invalid length.");
}
