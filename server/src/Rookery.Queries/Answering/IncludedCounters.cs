using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>Counters that the answer of a query includes: <c>include counters(path, name…)</c>.</summary>
/// <param name="Path">The path of the ids of the documents that have the counters; null if the results have
/// them.</param>
/// <param name="Names">The names, in UTF-8; null for all counters of each document.</param>
public sealed record IncludedCounters(string? Path, IReadOnlyList<byte[]>? Names)
{
    /// <summary>Reads each <c>include counters(…)</c> of a query. Parts with the same path are merged.</summary>
    /// <exception cref="QueryException">A name is no text.</exception>
    internal static IReadOnlyList<IncludedCounters> Read(Query query, OperandValues operands)
    {
        var included = new List<IncludedCounters>();
        foreach (var part in query.Includes.Where(static part => part.Kind == IncludeKind.Counters))
        {
            byte[][]? names =
                part.Arguments.Count == 0
                    ? null
                    : [.. part.Arguments.SelectMany(name => operands.ReadTexts(name, "counters()"))];
            int known = included.FindIndex(other => string.Equals(other.Path, part.Path, StringComparison.Ordinal));
            if (known < 0)
            {
                included.Add(new IncludedCounters(part.Path, names));
                continue;
            }

            bool isAll = names is null || included[known].Names is null;
            included[known] = new IncludedCounters(part.Path, isAll ? null : [.. included[known].Names!, .. names!]);
        }

        return included;
    }
}
