using Rookery.Scripting.Values;

namespace Rookery.Scripting.Patterns;

/// <summary>
/// The cases of characters for regular expressions with the flag i: those with the same <see cref="Canonical"/>, such
/// as <c>Σ</c>, <c>σ</c> and <c>ς</c>.
/// </summary>
internal static class PatternCase
{
    // Without the flag u, JavaScript compares UTF-16 units. So characters from here on have no other case.
    private const int EndOfPlane = 0x10000;

    private static readonly Lazy<Dictionary<int, int[]>> Cases = new(FindCases);

    /// <summary>
    /// Returns the character that stands for all its cases (ECMA-262, Canonicalize without the flag u): the upper-case
    /// one, unless only that one is ASCII, or the upper case has two characters. JavaScript keeps surrogate pairs.
    /// </summary>
    public static int Canonical(int character)
    {
        if (character < 0x80)
        {
            return LetterCase.Map(character, isUpper: true);
        }

        if (character >= EndOfPlane || FullLetterCase.HasLongUpper(character))
        {
            return character;
        }

        int upper = LetterCase.Map(character, isUpper: true);
        return upper < 0x80 ? character : upper;
    }

    /// <summary>Returns all cases of the character that stands for them; empty if it is the only one.</summary>
    public static ReadOnlySpan<int> CasesOf(int canonical) => Cases.Value.GetValueOrDefault(canonical);

    private static Dictionary<int, int[]> FindCases() =>
        Enumerable
            .Range(0, EndOfPlane)
            .GroupBy(Canonical)
            .Where(static cases => cases.Skip(1).Any())
            .ToDictionary(static cases => cases.Key, static cases => cases.ToArray());
}
