using System.Security.Cryptography;
using System.Text;

namespace Rookery.Server.Access;

/// <summary>
/// The code by which a node without an owner is claimed: made by the node at each start, or preset by who set the
/// machine up.
/// </summary>
public static class ClaimCode
{
    // 80 bits of those that are made here, which nobody tries out.
    private const int Length = 16;

    // Of a preset one, so that a row of the same sign is none.
    private const int LeastDifferent = 8;

    // Without 0, O, 1, I and l: it is read from a screen.
    private const string Letters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

    /// <summary>Makes a code.</summary>
    public static string Create() => RandomNumberGenerator.GetString(Letters, Length);

    /// <summary>
    /// Why a preset code is none, as the end of a sentence that begins with where it stands; null when it is one. The
    /// code itself is never part of it.
    /// </summary>
    public static string? WhyUnusable(string preset)
    {
        string code = Plain(preset);
        return code.Any(static letter => !char.IsAsciiLetterOrDigit(letter))
                ? "may hold only letters A to Z and digits; blanks and hyphens between them do not count"
            : code.Length < Length
                ? $"must hold at least {Length} letters and digits, and holds {code.Length}: whoever reaches "
                    + $"the node may try codes until it is claimed"
            : code.Distinct().Count() < LeastDifferent
                ? $"must hold at least {LeastDifferent} different letters and digits: whoever reaches the node "
                    + $"may try codes until it is claimed"
            : null;
    }

    /// <summary>Whether what was typed is the code. It takes as long whatever was.</summary>
    internal static bool IsSame(string typed, string code) =>
        CryptographicOperations.FixedTimeEquals(Hash(typed), Hash(code));

    private static byte[] Hash(string code) => SHA256.HashData(Encoding.UTF8.GetBytes(Plain(code)));

    /// <summary>Blanks, hyphens and small letters are for people.</summary>
    private static string Plain(string code) =>
        new([
            .. code.Where(static letter => letter is not ('-' or ' ' or '\t' or '\r' or '\n'))
                .Select(char.ToUpperInvariant),
        ]);
}
