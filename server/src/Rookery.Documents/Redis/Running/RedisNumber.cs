using System.Buffers.Text;

namespace Rookery.Documents.Redis.Running;

/// <summary>Reads numbers as Redis does.</summary>
internal static class RedisNumber
{
    /// <summary>Maximum digits of a number with its sign.</summary>
    public const int MaxBytes = 20;

    /// <summary>
    /// Reads an integer of 64 bits in its only form: no plus, no leading zero, no space, no minus before 0.
    /// </summary>
    public static bool TryRead(ReadOnlySpan<byte> text, out long value)
    {
        value = 0;
        if (text.Length is 0 or > MaxBytes)
        {
            return false;
        }

        var digits = text[0] == (byte)'-' ? text[1..] : text;
        return !digits.IsEmpty
            && digits[0] is >= (byte)'0' and <= (byte)'9'
            && (digits[0] != (byte)'0' || text.Length == 1)
            && Utf8Parser.TryParse(text, out value, out int read)
            && read == text.Length;
    }

    /// <summary>Compares a word of a command with a word in capital letters, in any casing.</summary>
    public static bool IsWord(ReadOnlySpan<byte> argument, ReadOnlySpan<byte> word)
    {
        if (argument.Length != word.Length)
        {
            return false;
        }

        for (int i = 0; i < word.Length; i++)
        {
            if (ToSmall(argument[i]) != ToSmall(word[i]))
            {
                return false;
            }
        }

        return true;
    }

    private static int ToSmall(byte value) => value is >= (byte)'A' and <= (byte)'Z' ? value | 0x20 : value;
}
