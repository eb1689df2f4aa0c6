namespace Rookery.Documents.Databases;

/// <summary>
/// The rules for database names: 1 to 128 letters, digits, <c>_</c>, <c>-</c> and <c>.</c>, without a dot at the
/// beginning or end. Casing does not distinguish names.
/// </summary>
/// <remarks>RavenDB's ResourceNameValidator; names are part of URLs and of backup paths.</remarks>
public static class DatabaseName
{
    /// <summary>Maximum length of a name in characters.</summary>
    public const int MaximumLength = 128;

    /// <summary>Returns whether two names differ at most in casing.</summary>
    public static bool AreEqual(string left, string right) =>
        string.Equals(ToLower(left), ToLower(right), StringComparison.Ordinal);

    /// <summary>
    /// Returns the lower-cased name, by which names are compared. The proposer calls it, never apply: nodes may use
    /// different versions of Unicode.
    /// </summary>
    public static string ToLower(string name) => name.ToLowerInvariant();

    /// <summary>Checks a name.</summary>
    /// <returns>One sentence with the problem, or null if the name is valid.</returns>
    public static string? Problem(string? name)
    {
        if (string.IsNullOrEmpty(name))
        {
            return "A database needs a name.";
        }

        if (name.Length > MaximumLength)
        {
            return $"The name of a database has at most {MaximumLength} characters; this one has {name.Length}.";
        }

        if (name[0] == '.' || name[^1] == '.')
        {
            return "The name of a database neither begins nor ends with a dot.";
        }

        // Whole characters, so that the message does not name half of one.
        foreach (var character in name.EnumerateRunes())
        {
            char unit = character.IsBmp ? (char)character.Value : char.MinValue;
            if (!char.IsLetterOrDigit(unit) && unit is not ('_' or '-' or '.'))
            {
                return $"The name of a database has only letters, digits, '_', '-' and '.'; '{character}' is none "
                    + $"of them.";
            }
        }

        return null;
    }
}
