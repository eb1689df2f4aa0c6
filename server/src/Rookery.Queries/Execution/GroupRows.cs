using Rookery.Indexing.Automatic;
using Rookery.Indexing.Grouping;
using Rookery.Indexing.Reducing;
using Rookery.Platform;

namespace Rookery.Queries.Execution;

/// <summary>
/// Converts the stored rows of an automatic map/reduce index: renames their members as the query does. Not thread-safe.
/// </summary>
internal sealed class GroupRows
{
    // The numbers of the index's fields that are the keys and aggregates of the query.
    private readonly int[] _keys;
    private readonly int[] _aggregates;

    // The ranges of the fields' values in the current row.
    private readonly Range[] _values;
    private readonly string[] _names;
    private readonly bool _needsWholeKey;
    private readonly PooledBytes _row = new();
    private readonly PooledBytes _identity = new();

    /// <summary>Creates a converter. The index must cover the query.</summary>
    /// <param name="definition">The definition of the index.</param>
    /// <param name="plan">The keys and aggregates of the query.</param>
    public GroupRows(AutoReduceDefinition definition, GroupPlan plan)
    {
        var keys = definition.Keys.ToList();
        var aggregates = definition.Aggregates.ToList();
        _keys = [.. plan.Keys.Select(key => keys.IndexOf(new AutoReduceKey(plan.PathOf(key), key.IsOfElement)))];
        _aggregates =
        [
            .. plan.Aggregates.Select(aggregate =>
                keys.Count + aggregates.IndexOf(AutoReduceDefinition.AggregateOf(plan, aggregate))
            ),
        ];
        _values = new Range[keys.Count + aggregates.Count];
        (_names, _needsWholeKey) = (plan.Names, plan.NeedsWholeKey);

        // A key that repeats an earlier one does not change the order.
        HasOrder = _keys.Distinct().SequenceEqual(Enumerable.Range(0, keys.Count));
    }

    /// <summary>Whether the query orders its groups as the index does.</summary>
    public bool HasOrder { get; }

    /// <summary>
    /// The numbers of the index's fields, each with the path by which the query's conditions and sort keys refer to it.
    /// </summary>
    public IEnumerable<(IReadOnlyList<string> Path, int Number)> Names =>
        [
            .. _keys.Select(static (number, key) => ((IReadOnlyList<string>)[$"k{key}"], number)),
            .. _aggregates.Select(static (number, aggregate) => ((IReadOnlyList<string>)[$"a{aggregate}"], number)),
            .. _keys.Length == 1
                ? [((IReadOnlyList<string>)["key"], _keys[0])]
                : Array.Empty<(IReadOnlyList<string>, int)>(),
        ];

    /// <summary>Returns the members of a group's row with the query's names, without braces.</summary>
    /// <param name="stored">The row as the index stores it.</param>
    public byte[] Read(ReadOnlySpan<byte> stored)
    {
        ReducedGroup.Find(stored, _values);
        _row.Clear();
        _identity.Clear();
        for (int key = 0; key < _keys.Length; key++)
        {
            GroupRow.AppendName((byte)'k', key, _row);
            _row.Append(stored[_values[_keys[key]]]);
        }

        int keysEnd = _row.Length;
        for (int aggregate = 0; aggregate < _aggregates.Length; aggregate++)
        {
            GroupRow.AppendName((byte)'a', aggregate, _row);
            _row.Append(stored[_values[_aggregates[aggregate]]]);
        }

        if (_needsWholeKey)
        {
            GroupRow.AppendWholeKey(_row.Written[..keysEnd].ToArray(), _names, _row);
        }

        return _row.Written.ToArray();
    }

    /// <summary>Returns the sort key of a group in the order of the query's keys.</summary>
    /// <param name="stored">The row as the index stores it.</param>
    public byte[] ReadSortKey(ReadOnlySpan<byte> stored)
    {
        ReducedGroup.Find(stored, _values);
        _identity.Clear();
        foreach (int key in _keys)
        {
            GroupIdentity.Append(stored[_values[key]], _identity);
        }

        return _identity.Written.ToArray();
    }

    /// <summary>Releases pooled memory.</summary>
    public void Release()
    {
        _row.Release();
        _identity.Release();
    }
}
