using Rookery.Search.Analysis;

namespace Rookery.Indexing.Mapping;

/// <summary>
/// A field of an index and how it is indexed. Each field has <see cref="Numbers"/> consecutive field numbers: its
/// values without case, its greatest value, its presence, its values with case, and its words.
/// </summary>
/// <param name="Path">Member names from the top of the document or row.</param>
/// <param name="HasExactValues">Whether values with case are indexed.</param>
/// <param name="Analyzer">Splits texts into words; null if words are not indexed.</param>
public sealed record MappedField(IReadOnlyList<string> Path, bool HasExactValues, Analyzer? Analyzer)
{
    /// <summary>Whether the analyzer of some field removes stop words.</summary>
    public static bool DropStopWords(IEnumerable<MappedField> fields) =>
        fields.Any(static field => field.Analyzer is { DropsStopWords: true });

    /// <summary>Number of field numbers for each field.</summary>
    public const int Numbers = 5;

    /// <summary>Maximum fields of an index, because a segment has at most 65,536 field numbers.</summary>
    public const int MaxFields = 65_536 / Numbers;

    /// <summary>The term of every entry that has a value in the field; null counts as a value.</summary>
    public static ReadOnlySpan<byte> AnyValue => [1];

    /// <summary>Returns the number of a field's values without case. Its sort key is the least value.</summary>
    public static int ValuesOf(int field) => Numbers * field;

    /// <summary>
    /// Returns the number whose sort key is the greatest value. Set only if that differs from the least.
    /// </summary>
    public static int GreatestOf(int field) => ValuesOf(field) + 1;

    /// <summary>Returns the number under which entries with a value have the term <see cref="AnyValue"/>.</summary>
    public static int PresenceOf(int field) => ValuesOf(field) + 2;

    /// <summary>Returns the number of a field's values with case.</summary>
    public static int ExactValuesOf(int field) => ValuesOf(field) + 3;

    /// <summary>Returns the number of a field's words.</summary>
    public static int WordsOf(int field) => ValuesOf(field) + 4;
}
