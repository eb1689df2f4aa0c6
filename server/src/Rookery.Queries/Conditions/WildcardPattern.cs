using Rookery.Indexing.Values;

namespace Rookery.Queries.Conditions;

/// <summary>
/// Matches texts against a pattern with wildcards. Takes at most as many steps as the product of the lengths of pattern
/// and text, in bytes.
/// </summary>
/// <param name="pattern">The pattern in UTF-8 with <see cref="Many"/> and <see cref="One"/> as wildcards; folded,
/// unless texts are compared with case.</param>
internal sealed class WildcardPattern(byte[] pattern) : TextPattern
{
    /// <summary>Wildcard for any number of characters; a byte that does not occur in UTF-8.</summary>
    public const byte Many = 0xFF;

    /// <summary>Wildcard for one character; a byte that does not occur in UTF-8.</summary>
    public const byte One = 0xFE;

    private const int StepsBetweenCounts = 64 * 1024;

    private readonly int _plainBytes = PlainBytes(pattern);

    public override ReadOnlySpan<byte> Prefix => pattern.AsSpan(0, _plainBytes);

    public override bool Matches(ReadOnlySpan<byte> text, ScanWork work) => Matches(pattern, text, work);

    /// <summary>Returns the number of bytes before the first wildcard.</summary>
    public static int PlainBytes(ReadOnlySpan<byte> pattern) =>
        pattern.IndexOfAny(Many, One) is >= 0 and int first ? first : pattern.Length;

    /// <summary>Returns whether a text matches a pattern.</summary>
    /// <param name="pattern">The pattern.</param>
    /// <param name="text">The text in UTF-8.</param>
    /// <param name="work">Counts the steps against the time limit; null for no limit.</param>
    public static bool Matches(ReadOnlySpan<byte> pattern, ReadOnlySpan<byte> text, ScanWork? work)
    {
        int steps = 0;
        bool isMatch = Matches(pattern, text, work, ref steps);
        work?.CountBytes(steps);
        return isMatch;
    }

    private static bool Matches(ReadOnlySpan<byte> pattern, ReadOnlySpan<byte> text, ScanWork? work, ref int steps)
    {
        // After a mismatch, only the last Many is made one character longer: making an earlier Many longer cannot help.
        int at = 0;
        int patternAt = 0;
        int afterMany = -1;
        int retry = 0;
        while (at < text.Length)
        {
            if (++steps == StepsBetweenCounts)
            {
                work?.CountBytes(steps);
                steps = 0;
            }

            if (patternAt < pattern.Length && pattern[patternAt] == Many)
            {
                (afterMany, retry) = (++patternAt, at);
            }
            else if (patternAt < pattern.Length && pattern[patternAt] == One)
            {
                patternAt++;
                at = NextCharacter(text, at);
            }
            else if (patternAt < pattern.Length && pattern[patternAt] == text[at])
            {
                patternAt++;
                at++;
            }
            else if (afterMany >= 0)
            {
                retry = NextCharacter(text, retry);
                (patternAt, at) = (afterMany, retry);
            }
            else
            {
                return false;
            }
        }

        return pattern[patternAt..].IndexOfAnyExcept(Many) < 0;
    }

    private static int NextCharacter(ReadOnlySpan<byte> text, int at)
    {
        at++;
        while (at < text.Length && (text[at] & 0xC0) == 0x80) // a byte that continues a character of UTF-8
        {
            at++;
        }

        return at;
    }
}
