using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Indexes;

/// <summary>The field numbers that an index uses for one field of the documents.</summary>
/// <param name="Values">The number for keys of values, ignoring case. Its sort column has the least value.</param>
/// <param name="Greatest">The number for a sort column with the greatest value, for documents with several
/// values.</param>
/// <param name="Presence">The number for a single term that all documents with a value have.</param>
/// <param name="ExactValues">The number for keys of values with case; null if they are not indexed.</param>
/// <param name="Words">The number for words of texts; null if they are not indexed.</param>
public sealed record IndexedField(int Values, int Greatest, int Presence, int? ExactValues, int? Words);

/// <summary>Maps fields to the field numbers of an index.</summary>
public sealed class IndexedFields
{
    private static readonly string[] IdPath = [.. FieldReader.Id.Names];

    private readonly List<(IReadOnlyList<string> Path, IndexedField Field)> _fields = [];

    /// <summary>Maps each field of an index by its own path.</summary>
    public IndexedFields(IReadOnlyList<MappedField> mapped)
        : this(mapped, mapped.Select(static (field, number) => (field.Path, number))) { }

    /// <summary>Maps the fields of an index under other paths.</summary>
    /// <param name="mapped">The fields of the index.</param>
    /// <param name="named">
    /// The paths that queries use, each with the position of its field in <paramref name="mapped"/>.
    /// </param>
    public IndexedFields(IReadOnlyList<MappedField> mapped, IEnumerable<(IReadOnlyList<string> Path, int Number)> named)
    {
        foreach (var (path, number) in named)
        {
            _fields.Add(
                (path, FieldAt(number, mapped[number].HasExactValues, hasWords: mapped[number].Analyzer is not null))
            );
        }
    }

    /// <summary>The fields that documents name; null if there are none.</summary>
    public NamedFields? Named { get; init; }

    /// <summary>Returns the field numbers of a field; null if the index does not have the field.</summary>
    public IndexedField? Find(FieldReader reader)
    {
        foreach (var (path, field) in _fields)
        {
            if (AreSame(path, reader.Names))
            {
                return field;
            }
        }

        return Named is not null && reader is { IsMetadata: false, Names: [var name] }
            ? FieldAt(Named.PositionOf(name), hasExactValues: true, hasWords: true)
            : null;
    }

    private static IndexedField FieldAt(int position, bool hasExactValues, bool hasWords) =>
        new(
            MappedField.ValuesOf(position),
            MappedField.GreatestOf(position),
            MappedField.PresenceOf(position),
            hasExactValues ? MappedField.ExactValuesOf(position) : null,
            hasWords ? MappedField.WordsOf(position) : null
        );

    /// <summary>Returns whether a reader reads the document's id.</summary>
    public static bool IsId(FieldReader reader) => reader.IsMetadata && AreSame(reader.Names, IdPath);

    private static bool AreSame(IReadOnlyList<string> path, IReadOnlyList<string> other)
    {
        bool areSame = path.Count == other.Count;
        for (int i = 0; areSame && i < path.Count; i++)
        {
            areSame = string.Equals(path[i], other[i], StringComparison.Ordinal);
        }

        return areSame;
    }
}
