namespace Rookery.Documents.Redis.Running;

/// <summary>
/// Matches glob patterns as Redis does: <c>*</c>, <c>?</c>, <c>[abc]</c>, <c>[^a-c]</c>, and <c>\</c> before a
/// character. Takes at most as many steps as the product of the lengths.
/// </summary>
public static class RedisPattern
{
    /// <summary>Returns whether a text matches a pattern.</summary>
    public static bool IsMatch(ReadOnlySpan<byte> pattern, ReadOnlySpan<byte> text)
    {
        const int None = -1;
        int p = 0;
        int t = 0;
        int star = None; // the position after the last star, and the text that it matches up to
        int resumed = 0;
        while (t < text.Length)
        {
            if (p < pattern.Length && pattern[p] == (byte)'*')
            {
                star = ++p;
                resumed = t;
            }
            else if (p < pattern.Length && IsCharacter(pattern, ref p, text[t]))
            {
                t++;
            }
            else if (star == None)
            {
                return false;
            }
            else
            {
                p = star;
                t = ++resumed;
            }
        }

        while (p < pattern.Length && pattern[p] == (byte)'*')
        {
            p++;
        }

        return p == pattern.Length;
    }

    // Moves after the part of the pattern that matches one character.
    private static bool IsCharacter(ReadOnlySpan<byte> pattern, ref int at, byte character)
    {
        switch (pattern[at])
        {
            case (byte)'?':
                at++;
                return true;
            case (byte)'[':
                return IsInClass(pattern, ref at, character);
            case (byte)'\\' when at + 1 < pattern.Length:
                at += 2;
                return pattern[at - 1] == character;
            default:
                return pattern[at++] == character;
        }
    }

    private static bool IsInClass(ReadOnlySpan<byte> pattern, ref int at, byte character)
    {
        at++;
        bool isNegated = at < pattern.Length && pattern[at] == (byte)'^';
        at += isNegated ? 1 : 0;
        bool isIn = false;
        while (at < pattern.Length && pattern[at] != (byte)']')
        {
            if (pattern[at] == (byte)'\\' && at + 1 < pattern.Length)
            {
                at++;
                isIn |= pattern[at] == character;
            }
            else if (at + 2 < pattern.Length && pattern[at + 1] == (byte)'-')
            {
                byte first = Math.Min(pattern[at], pattern[at + 2]);
                byte last = Math.Max(pattern[at], pattern[at + 2]);
                at += 2;
                isIn |= character >= first && character <= last;
            }
            else
            {
                isIn |= pattern[at] == character;
            }

            at++;
        }

        at += at < pattern.Length ? 1 : 0; // after the bracket; a class may end with the pattern
        return isIn != isNegated;
    }
}
