using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Indexes;

/// <summary>The numbers under which an index holds what of a field.</summary>
/// <param name="Values">The keys of its values without case; the sort column holds the least.</param>
/// <param name="Greatest">A sort column of the greatest value, where it is another than the least.</param>
/// <param name="Presence">One term of all documents that have a value.</param>
/// <param name="ExactValues">The keys of its values with case; null when they are not held.</param>
/// <param name="Words">Its words; null when they are not held.</param>
public sealed record IndexedField(int Values, int Greatest, int Presence, int? ExactValues, int? Words);

/// <summary>Says what an index holds of which field.</summary>
public sealed class IndexedFields
{
    private static readonly string[] IdPath = [.. FieldReader.Id.Names];

    private readonly List<(IReadOnlyList<string> Path, IndexedField Field)> _fields = [];

    /// <summary>The fields of an index.</summary>
    public IndexedFields(IReadOnlyList<MappedField> mapped)
        : this(mapped, mapped.Select(static (field, number) => (field.Path, number))) { }

    /// <summary>The fields of an index under other names.</summary>
    /// <param name="mapped">The fields.</param>
    /// <param name="named">The names that readers have, and which field each is.</param>
    public IndexedFields(IReadOnlyList<MappedField> mapped, IEnumerable<(IReadOnlyList<string> Path, int Number)> named)
    {
        foreach (var (path, i) in named)
        {
            _fields.Add(
                (
                    path,
                    new IndexedField(
                        MappedField.ValuesOf(i),
                        MappedField.GreatestOf(i),
                        MappedField.PresenceOf(i),
                        mapped[i].HasExactValues ? MappedField.ExactValuesOf(i) : null,
                        mapped[i].Analyzer is not null ? MappedField.WordsOf(i) : null
                    )
                )
            );
        }
    }

    /// <summary>What is held of a field; null when nothing is.</summary>
    public IndexedField? Find(FieldReader reader)
    {
        foreach (var (path, field) in _fields)
        {
            if (AreSame(path, reader.Names))
            {
                return field;
            }
        }

        return null;
    }

    /// <summary>Whether a reader reads the document's id.</summary>
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
