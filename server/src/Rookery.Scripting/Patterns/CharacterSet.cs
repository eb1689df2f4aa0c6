namespace Rookery.Scripting.Patterns;

/// <summary>
/// A set of characters, as ranges. The ranges of <c>\w</c>, <c>\d</c> and <c>\s</c> are part of Rookery, so that a
/// newer version of Unicode or .NET does not change results.
/// </summary>
internal sealed class CharacterSet
{
    /// <summary>The greatest character of Unicode.</summary>
    public const int MaxCharacter = 0x10FFFF;

    private static readonly int[] Digits = ['0', '9'];
    private static readonly int[] WordCharacters = ['0', '9', 'A', 'Z', '_', '_', 'a', 'z'];

    // White space and line ends of ECMA-262.
    private static readonly int[] Blanks =
    [
        0x09,
        0x0D,
        0x20,
        0x20,
        0xA0,
        0xA0,
        0x1680,
        0x1680,
        0x2000,
        0x200A,
        0x2028,
        0x2029,
        0x202F,
        0x202F,
        0x205F,
        0x205F,
        0x3000,
        0x3000,
        0xFEFF,
        0xFEFF,
    ];

    private static readonly int[] LineEnds = ['\n', '\n', '\r', '\r', 0x2028, 0x2029];

    private readonly int[] _ranges; // pairs of the first and last character, sorted and apart
    private readonly ulong _ascii; // bits of the characters below 64
    private readonly ulong _asciiHigh; // bits of the characters from 64 to 127

    // Whether ContainsInAnyCase is false for the characters whose cases the ranges contain, and true for all others.
    private bool _isInverseInAnyCase;

    private CharacterSet(int[] ranges)
    {
        _ranges = ranges;
        for (int at = 0; at < ranges.Length && ranges[at] < 0x80; at += 2)
        {
            _ascii |= Bits(ranges[at], ranges[at + 1]);
            _asciiHigh |= Bits(ranges[at] - 64, ranges[at + 1] - 64);
        }
    }

    /// <summary>Number of ranges.</summary>
    public int Ranges => _ranges.Length / 2;

    /// <summary>Returns the only character of the set; -1 if it has another number.</summary>
    public int Single => _ranges is [var first, var last] && first == last && !_isInverseInAnyCase ? first : -1;

    /// <summary>Creates a set with one character.</summary>
    public static CharacterSet Of(int character) => new([character, character]);

    /// <summary>Creates the set of <c>.</c>: all characters, or all but line ends.</summary>
    public static CharacterSet Any(bool withLineEnds) => withLineEnds ? new([0, MaxCharacter]) : Inverse(LineEnds);

    /// <summary>Creates the set of an escape: d, w, s, or in upper case the characters outside of it.</summary>
    public static CharacterSet OfEscape(char escape)
    {
        int[] ranges =
            escape is 'd' or 'D' ? Digits
            : escape is 'w' or 'W' ? WordCharacters
            : Blanks;
        return char.IsAsciiLetterUpper(escape) ? Inverse(ranges) : new CharacterSet(ranges);
    }

    /// <summary>Creates a set from ranges in any order.</summary>
    /// <param name="ranges">The first and last character of each range. They are sorted.</param>
    /// <param name="isInverse">Whether the set has all other characters.</param>
    public static CharacterSet Of(List<(int First, int Last)> ranges, bool isInverse)
    {
        var sorted = new List<int>();
        ranges.Sort(static (a, b) => a.First.CompareTo(b.First));
        foreach (var (first, last) in ranges)
        {
            if (sorted.Count > 0 && first <= sorted[^1] + 1)
            {
                sorted[^1] = Math.Max(sorted[^1], last);
            }
            else
            {
                sorted.Add(first);
                sorted.Add(last);
            }
        }

        return isInverse ? Inverse([.. sorted]) : new CharacterSet([.. sorted]);
    }

    /// <summary>
    /// Creates the inverse of ranges for <see cref="ContainsInAnyCase"/>: without all cases of their characters.
    /// </summary>
    public static CharacterSet InverseInAnyCase(List<(int First, int Last)> ranges)
    {
        var set = Of(ranges, isInverse: false);
        set._isInverseInAnyCase = true;
        return set;
    }

    /// <summary>Adds the ranges of this set to others.</summary>
    public void AddTo(List<(int First, int Last)> ranges)
    {
        for (int at = 0; at < _ranges.Length; at += 2)
        {
            ranges.Add((_ranges[at], _ranges[at + 1]));
        }
    }

    /// <summary>Returns whether the set has a character.</summary>
    public bool Contains(int character) =>
        character < 64 ? (_ascii >> character & 1) != 0
        : character < 0x80 ? (_asciiHigh >> (character - 64) & 1) != 0
        : IsInRanges(character);

    /// <summary>Returns whether the set has a character in one of its cases.</summary>
    /// <param name="character">The character.</param>
    /// <param name="cases">Its cases, from <see cref="PatternCase.CasesOf"/>; empty if it has no others.</param>
    public bool ContainsInAnyCase(int character, ReadOnlySpan<int> cases)
    {
        bool contains = Contains(character);
        for (int index = 0; index < cases.Length && !contains; index++)
        {
            contains = Contains(cases[index]);
        }

        return contains != _isInverseInAnyCase;
    }

    /// <summary>Returns whether a character is one of <c>\w</c>.</summary>
    public static bool IsWordCharacter(int character) =>
        character < 0x80 && (char.IsAsciiLetterOrDigit((char)character) || character == '_');

    private static CharacterSet Inverse(int[] ranges)
    {
        var inverse = new List<int>();
        int next = 0;
        for (int at = 0; at < ranges.Length; at += 2)
        {
            if (ranges[at] > next)
            {
                inverse.Add(next);
                inverse.Add(ranges[at] - 1);
            }

            next = ranges[at + 1] + 1;
        }

        if (next <= MaxCharacter)
        {
            inverse.Add(next);
            inverse.Add(MaxCharacter);
        }

        return new CharacterSet([.. inverse]);
    }

    // The bits from first to last, of those from 0 to 63.
    private static ulong Bits(int first, int last) =>
        first > 63 || last < 0 ? 0 : ulong.MaxValue << Math.Max(first, 0) & ulong.MaxValue >> (63 - Math.Min(last, 63));

    private bool IsInRanges(int character)
    {
        int low = 0,
            high = (_ranges.Length / 2) - 1;
        while (low <= high)
        {
            int middle = (low + high) / 2;
            if (character < _ranges[2 * middle])
            {
                high = middle - 1;
            }
            else if (character > _ranges[(2 * middle) + 1])
            {
                low = middle + 1;
            }
            else
            {
                return true;
            }
        }

        return false;
    }
}
