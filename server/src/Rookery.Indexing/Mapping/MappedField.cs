using Rookery.Search.Analysis;

namespace Rookery.Indexing.Mapping;

/// <summary>
/// A field of an index, and what is held of it. Each field of an index has <see cref="Numbers"/> numbers, one after the
/// other: of its values without case, of the greatest of several, of whether there are any, of its values with case, of
/// its words.
/// </summary>
/// <param name="Path">Names of members from the top of the document, or of the row.</param>
/// <param name="HasExactValues">Whether its values with case are held.</param>
/// <param name="Analyzer">With what its words are made; null where they are not held.</param>
public sealed record MappedField(IReadOnlyList<string> Path, bool HasExactValues, Analyzer? Analyzer)
{
    /// <summary>Numbers that one field takes.</summary>
    public const int Numbers = 5;

    /// <summary>The term of each entry that has a value at the field, null being one.</summary>
    public static ReadOnlySpan<byte> AnyValue => [1];

    /// <summary>The number of a field's values without case. The sort key is the least of them.</summary>
    public static int ValuesOf(int field) => Numbers * field;

    /// <summary>
    /// The number under which the sort key is the greatest of a field's values, where that is another than the least.
    /// </summary>
    public static int GreatestOf(int field) => ValuesOf(field) + 1;

    /// <summary>The number under which entries that have a value stand by <see cref="AnyValue"/>.</summary>
    public static int PresenceOf(int field) => ValuesOf(field) + 2;

    /// <summary>The number of a field's values with case.</summary>
    public static int ExactValuesOf(int field) => ValuesOf(field) + 3;

    /// <summary>The number of a field's words.</summary>
    public static int WordsOf(int field) => ValuesOf(field) + 4;
}
