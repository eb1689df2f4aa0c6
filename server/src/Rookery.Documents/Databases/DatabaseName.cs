namespace Rookery.Documents.Databases;

/// <summary>
/// The rules for names of databases: 1 to 128 letters, digits, <c>_</c>, <c>-</c> and <c>.</c>, not beginning or ending
/// with a dot; compared without case.
/// </summary>
/// <remarks>RavenDB's ResourceNameValidator; names are part of URLs and of backup paths.</remarks>
public static class DatabaseName
{
    /// <summary>The longest name in characters.</summary>
    public const int MaximumLength = 128;

    /// <summary>Whether two names are one but for case.</summary>
    public static bool AreEqual(string left, string right) =>
        string.Equals(ToLower(left), ToLower(right), StringComparison.Ordinal);

    /// <summary>
    /// The form by which a name is compared. Made where a command is made, never in apply: runtimes may know other
    /// versions of Unicode.
    /// </summary>
    public static string ToLower(string name) => name.ToLowerInvariant();

    /// <summary>Checks a name.</summary>
    /// <returns>A sentence that says what is wrong, or null when the name is good.</returns>
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

        foreach (char character in name)
        {
            if (!char.IsLetterOrDigit(character) && character is not ('_' or '-' or '.'))
            {
                return $"The name of a database has only letters, digits, '_', '-' and '.'; '{character}' is none "
                    + $"of them.";
            }
        }

        return null;
    }
}
