using Rookery.Indexing.Indexes;
using Rookery.Indexing.Language;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Scanning;

/// <summary>
/// What <c>group by</c> computes. Keys whose path has <c>[]</c> (outside of <c>array(…)</c>) make an entry of each
/// element of that array; the keys and aggregates below the same array are read from the element, all others from the
/// document.
/// </summary>
internal sealed class GroupPlan
{
    /// <summary>The grouping of a query.</summary>
    /// <param name="keys">Its keys.</param>
    /// <param name="fields">Knows the aggregates, when all other parts of the query are compiled.</param>
    /// <exception cref="QueryException">Keys lead through several arrays.</exception>
    public GroupPlan(IReadOnlyList<GroupKey> keys, GroupFields fields)
    {
        string[]? array = null;
        foreach (
            GroupKey key in keys.Where(static key =>
                !key.IsWholeArray && key.Path.Steps.Any(static step => step.IsEach)
            )
        )
        {
            string[] found =
            [
                .. key
                    .Path.Steps.Take(key.Path.Steps.Index().Last(static step => step.Item.IsEach).Index + 1)
                    .Select(static step => step.Name),
            ];
            array ??= found;
            if (!array.SequenceEqual(found, StringComparer.Ordinal))
            {
                throw new QueryException(
                    QueryFault.NotSupported,
                    "'group by' through several arrays is not supported: use array(…) for all but one.",
                    key.Path.Position
                );
            }
        }

        Array = array is null ? null : new FieldReader(array);
        Keys = [.. keys.Select(key => GroupedField.Of(key.Path, key.IsWholeArray ? null : array))];
        Names = [.. keys.Select(static key => key.Alias ?? key.Path.ToString())];
        NeedsWholeKey = fields.NeedsWholeKey;
        Aggregates =
        [
            .. fields.Aggregates.Select(aggregate =>
                (aggregate.Kind, aggregate.Path is null ? null : GroupedField.Of(aggregate.Path, array))
            ),
        ];
    }

    /// <summary>What an index computes of the groups that it holds.</summary>
    public GroupPlan(AutoReduceDefinition definition)
    {
        string[]? array = definition.Array is { } steps ? [.. steps] : null;
        Array = array is null ? null : new FieldReader(array);
        Keys = [.. definition.Keys.Select(key => GroupedField.Of(ToPath(key.Path), key.IsOfElement ? array : null))];
        Names = [.. definition.Keys.Select(static key => key.Name)];
        Aggregates =
        [
            .. definition.Aggregates.Select(aggregate =>
                (aggregate.Kind, aggregate.Path.Count == 0 ? null : GroupedField.Of(ToPath(aggregate.Path), array))
            ),
        ];
    }

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

    private static FieldPath ToPath(IReadOnlyList<string> names) =>
        new([.. names.Select(static name => new PathStep(name, false))], 0);
}

/// <summary>A field of an entry: of the document, or of the array's element.</summary>
/// <param name="IsOfElement">Whether it is read from the element.</param>
/// <param name="Reader">Reads its values; null for the element itself.</param>
/// <param name="Writer">Writes it as one value; null for the element itself.</param>
internal sealed record GroupedField(bool IsOfElement, FieldReader? Reader, FieldWriter? Writer)
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
