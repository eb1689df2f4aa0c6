using Rookery.Indexing.Values;

namespace Rookery.Indexing.Grouping;

/// <summary>
/// The groups and aggregates of a <c>group by</c> query. If a key's path has <c>[]</c> (outside of <c>array(…)</c>),
/// each element of that array is an entry. Then keys and aggregates below the array are read from the element, and
/// other keys and aggregates from the document. Otherwise each document is an entry.
/// </summary>
public sealed class GroupPlan
{
    /// <summary>Makes a plan.</summary>
    /// <param name="array">The array whose elements are entries; null if documents are entries.</param>
    /// <param name="keys">The keys.</param>
    /// <param name="names">The names of the keys, for <c>key()</c>.</param>
    /// <param name="needsWholeKey">Whether the query uses <c>key()</c>.</param>
    /// <param name="aggregates">The aggregates; a count has no field.</param>
    public GroupPlan(
        FieldReader? array,
        GroupedField[] keys,
        string[] names,
        bool needsWholeKey,
        (AggregateKind Kind, GroupedField? Field)[] aggregates
    ) => (Array, Keys, Names, NeedsWholeKey, Aggregates) = (array, keys, names, needsWholeKey, aggregates);

    /// <summary>The array whose elements are entries; null if documents are entries.</summary>
    public FieldReader? Array { get; }

    /// <summary>The keys.</summary>
    public GroupedField[] Keys { get; }

    /// <summary>The names of the keys, for <c>key()</c>.</summary>
    public string[] Names { get; }

    /// <summary>Whether the query uses <c>key()</c>.</summary>
    public bool NeedsWholeKey { get; }

    /// <summary>The aggregates; a count has no field.</summary>
    public (AggregateKind Kind, GroupedField? Field)[] Aggregates { get; }

    /// <summary>Returns the member names on the path from the root of the document to a field.</summary>
    public IReadOnlyList<string> PathOf(GroupedField field) =>
        field.IsOfElement ? [.. Array!.Names, .. field.Reader?.Names ?? []] : field.Reader!.Names;
}

/// <summary>A field that a grouped query reads from the document or from the array's element.</summary>
/// <param name="IsOfElement">Whether the field is read from the element.</param>
/// <param name="Reader">Reads the values of the field; null for the element itself.</param>
/// <param name="Writer">Writes the field as one value; null for the element itself.</param>
public sealed record GroupedField(bool IsOfElement, FieldReader? Reader, FieldWriter? Writer)
{
    /// <summary>Returns the field of a path.</summary>
    /// <param name="path">The path from the root of the document.</param>
    /// <param name="array">The member names of the path to the array; null if there is none.</param>
    public static GroupedField Of(FieldPath path, string[]? array)
    {
        bool isOfElement =
            array is not null
            && path.Steps.Count >= array.Length
            && path.Steps.Take(array.Length)
                .Select(static step => step.Name)
                .SequenceEqual(array, StringComparer.Ordinal);
        if (!isOfElement)
        {
            return new(IsOfElement: false, new FieldReader(path), new FieldWriter(path));
        }

        FieldPath pathInElement = path with { Steps = [.. path.Steps.Skip(array!.Length)] };
        return pathInElement.Steps.Count == 0
            ? new(IsOfElement: true, Reader: null, Writer: null)
            : new(IsOfElement: true, new FieldReader(pathInElement), new FieldWriter(pathInElement));
    }
}
