using System.Security.Cryptography;
using System.Text;

namespace Rookery.Server.Access;

/// <summary>
/// The code that claims a node without an owner. The node creates it at each start, unless it was preset when the
/// machine was set up.
/// </summary>
public static class ClaimCode
{
    // A created code has 80 random bits, too many to guess.
    private const int Length = 16;

    // Least number of different characters in a preset code, so that one repeated character is refused.
    private const int MinDifferentCharacters = 8;

    // Without 0, O, 1, I and l, because the code is read from a screen.
    private const string Letters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

    /// <summary>Creates a code.</summary>
    public static string Create() => RandomNumberGenerator.GetString(Letters, Length);

    /// <summary>
    /// Returns why a preset code is unusable; null if it is usable. The text continues a sentence that begins with the
    /// code's source. It never contains the code.
    /// </summary>
    public static string? WhyUnusable(string preset)
    {
        string code = Normalise(preset);
        if (code.Any(static letter => !char.IsAsciiLetterOrDigit(letter)))
        {
            return "may hold only letters A to Z and digits; blanks and hyphens between them do not count";
        }

        if (code.Length < Length)
        {
            return $"must hold at least {Length} letters and digits, and holds {code.Length}: anyone who reaches "
                + $"the node can try codes until it is claimed";
        }

        if (code.Distinct().Count() < MinDifferentCharacters)
        {
            return $"must hold at least {MinDifferentCharacters} different letters and digits: anyone who reaches "
                + $"the node can try codes until it is claimed";
        }

        return null;
    }

    /// <summary>Whether the typed text is the code, compared in constant time.</summary>
    internal static bool IsSame(string typed, string code) =>
        CryptographicOperations.FixedTimeEquals(Hash(typed), Hash(code));

    private static byte[] Hash(string code) => SHA256.HashData(Encoding.UTF8.GetBytes(Normalise(code)));

    /// <summary>Normalises a code: removes blanks and hyphens, and upper-cases letters.</summary>
    private static string Normalise(string code) =>
        new([
            .. code.Where(static letter => letter is not ('-' or ' ' or '\t' or '\r' or '\n'))
                .Select(char.ToUpperInvariant),
        ]);
}
