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

    /// <summary>Returns whether the lower-cased part of an id matches one of the alternatives.</summary>
    public bool IsMatch(ReadOnlySpan<byte> lowerRest)
    {
        foreach (byte[] alternative in _alternatives)
        {
            if (IsMatch(alternative, lowerRest))
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
        int p = 0,
            t = 0,
            star = -1,
            starText = 0;
        while (t < text.Length)
        {
            if (p < pattern.Length && pattern[p] == (byte)'*')
            {
                star = p++;
                starText = t;
            }
            else if (p < pattern.Length && pattern[p] == (byte)'?')
            {
                p++;
                t += CharacterLength(text, t);
            }
            else if (p < pattern.Length && pattern[p] == text[t])
            {
                p++;
                t++;
            }
            else if (star >= 0)
            {
                p = star + 1;
                starText += CharacterLength(text, starText);
                t = starText;
            }
            else
            {
                return false;
            }
        }

        return pattern[p..].TrimStart((byte)'*').IsEmpty;
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
