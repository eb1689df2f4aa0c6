using System.Collections.Frozen;

namespace Rookery.Queries.Language;

/// <summary>Refuses parts of RavenDB's RQL that this version lacks.</summary>
internal static class UnsupportedParts
{
    // Functions of RavenDB that this version lacks, or supports in other places of a query only.
    private static readonly FrozenSet<string> Functions = new[]
    {
        "ai",
        "cmpxchg",
        "contains",
        "counter",
        "counterraw",
        "counters",
        "custom",
        "disjoint",
        "embedding",
        "first",
        "getmetadata",
        "last",
        "lastmodified",
        "metadatafor",
        "now",
        "revisions",
        "spatial",
        "timeseries",
        "today",
        "vector",
        "when",
        "within",
    }.ToFrozenSet(StringComparer.OrdinalIgnoreCase);

    /// <summary>
    /// Throws if RavenDB has the function, because this version does not support the function in this place.
    /// </summary>
    /// <param name="name">The function's name, up to its first dot.</param>
    /// <param name="position">Its position in the query's text.</param>
    /// <param name="suffix">The name from its first dot on, for example <c>.within</c>.</param>
    /// <exception cref="QueryException">The function is not supported.</exception>
    public static void RefuseFunction(string name, int position, string suffix = "")
    {
        if (Functions.Contains(name))
        {
            throw Refusal($"{name}{suffix}()", position);
        }
    }

    /// <summary>Throws if the clause exists only in RavenDB.</summary>
    /// <exception cref="QueryException">The name exists only in RavenDB.</exception>
    public static void RefuseClause(in RqlToken word)
    {
        if (word.IsKeyword("with") || word.IsKeyword("match"))
        {
            throw Refusal(word.Text.ToLowerInvariant(), word.Position);
        }
    }

    /// <summary>Returns the exception for an unsupported part of RQL.</summary>
    public static QueryException Refusal(string part, int position) =>
        new(QueryFault.NotSupported, $"'{part}' is not supported by this version.", position);
}
