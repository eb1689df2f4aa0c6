using System.Diagnostics.CodeAnalysis;
using System.Text;
using Rookery.Scripting.Values;

namespace Rookery.Documents.Ids;

/// <summary>
/// Compares texts without regard to case as the database does, which lower-cases them: ß and ẞ are equal, σ and ς are
/// not. <see cref="StringComparer.OrdinalIgnoreCase"/> upper-cases them instead, with the opposite results.
/// </summary>
public sealed class IgnoredCase : IEqualityComparer<string>
{
    private readonly bool _isAsciiOnly;

    private IgnoredCase(bool isAsciiOnly) => _isAsciiOnly = isAsciiOnly;

    /// <summary>
    /// Compares ids of documents and names of counters and indexes, as <see cref="DocumentId.ToLower"/> does.
    /// </summary>
    public static IgnoredCase OfNames { get; } = new(isAsciiOnly: false);

    /// <summary>Compares names of collections: only the case of ASCII letters is ignored.</summary>
    public static IgnoredCase OfCollections { get; } = new(isAsciiOnly: true);

    /// <inheritdoc/>
    public bool Equals(string? x, string? y) =>
        ReferenceEquals(x, y) || (x is not null && y is not null && LengthOfPrefix(x, y) == x.Length);

    /// <inheritdoc/>
    public int GetHashCode([DisallowNull] string obj)
    {
        var hash = default(HashCode);
        foreach (var rune in obj.EnumerateRunes())
        {
            hash.Add(ToLower(rune).Value);
        }

        return hash.ToHashCode();
    }

    /// <summary>Returns whether a text begins with a prefix.</summary>
    public bool StartsWith(string text, string prefix) => LengthOfPrefix(text, prefix) >= 0;

    // Returns the length of the beginning of a text that equals all of a prefix; -1 if the text begins otherwise.
    private int LengthOfPrefix(string text, string prefix)
    {
        var rest = text.AsSpan().EnumerateRunes();
        int length = 0;
        foreach (var expected in prefix.EnumerateRunes())
        {
            if (!rest.MoveNext() || ToLower(rest.Current) != ToLower(expected))
            {
                return -1;
            }

            length += rest.Current.Utf16SequenceLength;
        }

        return length;
    }

    private Rune ToLower(Rune rune) => _isAsciiOnly && !rune.IsAscii ? rune : LetterCase.ToLower(rune);
}
