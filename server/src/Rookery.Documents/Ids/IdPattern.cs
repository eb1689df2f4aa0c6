using System.Text;

namespace Rookery.Documents.Ids;

/// <summary>
/// A pattern of <c>matches</c> or <c>exclude</c>: alternatives separated by <c>|</c>, <c>*</c> for any text, <c>?</c>
/// for one character. It is compared with the part of an id after the prefix, without regard to casing.
/// </summary>
public sealed class IdPattern
{
    private readonly byte[][] _alternatives;

    /// <summary>Parses a pattern. Null or empty text gives an empty pattern (<see cref="IsEmpty"/>).</summary>
    public IdPattern(string? pattern) =>
        _alternatives = string.IsNullOrEmpty(pattern) ? [] : Array.ConvertAll(pattern.Split('|'), Lower);

    /// <summary>Whether the pattern has no alternatives.</summary>
    public bool IsEmpty => _alternatives.Length == 0;

    /// <summary>Returns whether the lower-cased end of an id, after the prefix, matches one of the
    /// alternatives.</summary>
    public bool IsMatch(ReadOnlySpan<byte> lowerSuffix)
    {
        foreach (byte[] alternative in _alternatives)
        {
            if (IsMatch(alternative, lowerSuffix))
            {
                return true;
            }
        }

        return false;
    }

    private static byte[] Lower(string alternative)
    {
        byte[] text = Encoding.UTF8.GetBytes(alternative);
        byte[] lower = new byte[text.Length * 3];
        return DocumentId.TryToLower(text, lower, out int length) ? lower[..length] : text;
    }

    /// <summary>
    /// Matches greedily and backtracks to the last star only. This suffices, because earlier stars never need to match
    /// more.
    /// </summary>
    private static bool IsMatch(ReadOnlySpan<byte> pattern, ReadOnlySpan<byte> text)
    {
        int patternAt = 0;
        int textAt = 0;
        int lastStar = -1; // position of the last star in the pattern
        int starEnd = 0; // end of the text that this star matches so far
        while (textAt < text.Length)
        {
            if (patternAt < pattern.Length && pattern[patternAt] == (byte)'*')
            {
                lastStar = patternAt++;
                starEnd = textAt;
            }
            else if (patternAt < pattern.Length && pattern[patternAt] == (byte)'?')
            {
                patternAt++;
                textAt += CharacterLength(text, textAt);
            }
            else if (patternAt < pattern.Length && pattern[patternAt] == text[textAt])
            {
                patternAt++;
                textAt++;
            }
            else if (lastStar >= 0)
            {
                patternAt = lastStar + 1;
                starEnd += CharacterLength(text, starEnd);
                textAt = starEnd;
            }
            else
            {
                return false;
            }
        }

        return pattern[patternAt..].TrimStart((byte)'*').IsEmpty;
    }

    private static int CharacterLength(ReadOnlySpan<byte> text, int at)
    {
        int length = 1;
        while (at + length < text.Length && (text[at + length] & 0xC0) == 0x80)
        {
            length++;
        }

        return length;
    }
}
