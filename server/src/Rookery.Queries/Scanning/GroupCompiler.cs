using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;
using Rookery.Queries.Language;

namespace Rookery.Queries.Scanning;

/// <summary>Compiles <c>group by</c>.</summary>
internal static class GroupCompiler
{
    /// <summary>Compiles the grouping of a query.</summary>
    /// <param name="keys">The keys of <c>group by</c>.</param>
    /// <param name="fields">The aggregates. All other parts of the query must be compiled first, because they register
    /// the aggregates that they use.</param>
    /// <exception cref="QueryException">The keys' paths lead through more than one array.</exception>
    public static GroupPlan Compile(IReadOnlyList<GroupKey> keys, GroupFields fields)
    {
        string[]? array = ArrayOf(keys);
        return new GroupPlan(
            array is null ? null : new FieldReader(array),
            [.. keys.Select(key => GroupedField.Of(key.Path, key.IsWholeArray ? null : array))],
            [.. keys.Select(static key => key.Alias ?? key.Path.ToString())],
            fields.NeedsWholeKey,
            [
                .. fields.Aggregates.Select(aggregate =>
                    (aggregate.Kind, aggregate.Path is null ? null : GroupedField.Of(aggregate.Path, array))
                ),
            ]
        );
    }

    /// <summary>
    /// Returns the path to the array whose elements are grouped; null if no key leads through an array.
    /// </summary>
    private static string[]? ArrayOf(IReadOnlyList<GroupKey> keys)
    {
        string[]? array = null;
        foreach (
            GroupKey key in keys.Where(static key =>
                !key.IsWholeArray && key.Path.Steps.Any(static step => step.IsEach)
            )
        )
        {
            int lastArrayStep = key.Path.Steps.Index().Last(static step => step.Item.IsEach).Index;
            string[] arrayOfKey = [.. key.Path.Steps.Take(lastArrayStep + 1).Select(static step => step.Name)];
            array ??= arrayOfKey;
            if (!array.SequenceEqual(arrayOfKey, StringComparer.Ordinal))
            {
                throw new QueryException(
                    QueryFault.NotSupported,
                    "'group by' through several arrays is not supported: use array(…) for all but one.",
                    key.Path.Position
                );
            }
        }

        return array;
    }
}
