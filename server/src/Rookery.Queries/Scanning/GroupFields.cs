using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Scanning;

/// <summary>
/// Resolves fields of a grouped query to the members of a group's row: <c>k0</c>, <c>k1</c>… for keys, <c>a0</c>… for
/// aggregates, and <c>key</c>. Resolving an aggregate registers it, and only registered ones are computed.
/// </summary>
/// <param name="query">The query.</param>
internal sealed class GroupFields(Query query) : FieldResolver
{
    private readonly List<AggregateReference> _aggregates = [];

    /// <summary>The aggregates resolved so far, in the order of their members.</summary>
    public IReadOnlyList<AggregateReference> Aggregates => _aggregates;

    /// <summary>Whether <c>key()</c> was resolved.</summary>
    public bool NeedsWholeKey { get; private set; }

    public override FieldPath Resolve(FieldReference field)
    {
        switch (field)
        {
            case GroupKeyReference:
                NeedsWholeKey = true;
                return Member("key", field);
            case AggregateReference aggregate:
                return Member($"a{IndexOf(aggregate)}", field);
            case PathReference path when KeyOf(path.Path) is >= 0 and var key:
                return Member($"k{key}", field);
            case PathReference path when SelectedAs(path.Path) is { } selected:
                return Resolve(selected);
            default:
                throw new QueryException(
                    QueryFault.Invalid,
                    $"'{NameOf(field)}' is neither a key of 'group by' nor an aggregate.",
                    field.Position
                );
        }
    }

    private static FieldPath Member(string name, FieldReference field) =>
        new([new(name, IsEach: false)], field.Position);

    private int IndexOf(AggregateReference aggregate)
    {
        int index = _aggregates.FindIndex(known => known.Kind == aggregate.Kind && Equals(known.Path, aggregate.Path));
        if (index < 0)
        {
            index = _aggregates.Count;
            _aggregates.Add(aggregate);
        }

        return index;
    }

    private int KeyOf(FieldPath path)
    {
        for (int key = 0; key < query.GroupBy.Count; key++)
        {
            GroupKey groupKey = query.GroupBy[key];
            if (
                groupKey
                    .Path.Steps.Select(static step => step.Name)
                    .SequenceEqual(path.Steps.Select(static step => step.Name), StringComparer.Ordinal)
                || (groupKey.Alias is not null && IsName(path, groupKey.Alias))
            )
            {
                return key;
            }
        }

        return -1;
    }

    /// <summary>Returns the aggregate or key that has this name in the selection; null if there is none.</summary>
    private FieldReference? SelectedAs(FieldPath path) =>
        (query.Select as FieldSelection)
            ?.Items.Where(item => IsName(path, Projection.NameOf(item)))
            .Select(static item => (item.Source as SelectedReference)?.Field)
            .FirstOrDefault(selected =>
                selected is AggregateReference or GroupKeyReference
                || (selected is PathReference key && KeyOf(key.Path) >= 0)
            );

    private static bool IsName(FieldPath path, string name) =>
        string.Equals(path.ToString(), name, StringComparison.Ordinal);
}
