using Rookery.Indexing.Values;

namespace Rookery.Indexing.Grouping;

/// <summary>
/// What <c>group by</c> computes. Keys whose path has <c>[]</c> (outside of <c>array(…)</c>) make an entry of each
/// element of that array; the keys and aggregates below the same array are read from the element, all others from the
/// document.
/// </summary>
public sealed class GroupPlan
{
    /// <summary>Puts a plan together.</summary>
    /// <param name="array">The array whose elements are entries; null when each document is one.</param>
    /// <param name="keys">The keys.</param>
    /// <param name="names">Their names, for <c>key()</c>.</param>
    /// <param name="needsWholeKey">Whether <c>key()</c> is asked for.</param>
    /// <param name="aggregates">The aggregates.</param>
    public GroupPlan(
        FieldReader? array,
        GroupedField[] keys,
        string[] names,
        bool needsWholeKey,
        (AggregateKind Kind, GroupedField? Field)[] aggregates
    ) => (Array, Keys, Names, NeedsWholeKey, Aggregates) = (array, keys, names, needsWholeKey, aggregates);

    /// <summary>The array whose elements are entries; null when each document is one.</summary>
    public FieldReader? Array { get; }

    /// <summary>The keys.</summary>
    public GroupedField[] Keys { get; }

    /// <summary>Their names, for <c>key()</c>.</summary>
    public string[] Names { get; }

    /// <summary>Whether <c>key()</c> is asked for.</summary>
    public bool NeedsWholeKey { get; }

    /// <summary>The aggregates.</summary>
    public (AggregateKind Kind, GroupedField? Field)[] Aggregates { get; }

    /// <summary>Names of members from the document's top to a key or to what an aggregate is of.</summary>
    public IReadOnlyList<string> PathOf(GroupedField field) =>
        field.IsOfElement ? [.. Array!.Names, .. field.Reader?.Names ?? []] : field.Reader!.Names;
}

/// <summary>A field of an entry: of the document, or of the array's element.</summary>
/// <param name="IsOfElement">Whether it is read from the element.</param>
/// <param name="Reader">Reads its values; null for the element itself.</param>
/// <param name="Writer">Writes it as one value; null for the element itself.</param>
public sealed record GroupedField(bool IsOfElement, FieldReader? Reader, FieldWriter? Writer)
{
    /// <summary>A field by its path.</summary>
    /// <param name="path">The path.</param>
    /// <param name="array">Names of the steps to the array of entries; null without one.</param>
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
            return new(false, new FieldReader(path), new FieldWriter(path));
        }

        FieldPath rest = path with { Steps = [.. path.Steps.Skip(array!.Length)] };
        return rest.Steps.Count == 0 ? new(true, null, null) : new(true, new FieldReader(rest), new FieldWriter(rest));
    }
}
