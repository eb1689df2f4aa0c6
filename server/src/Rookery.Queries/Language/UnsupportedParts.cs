using System.Collections.Frozen;

namespace Rookery.Queries.Language;

/// <summary>What RavenDB's RQL has and this version does not.</summary>
internal static class UnsupportedParts
{
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

    /// <summary>Refuses a function that RavenDB has; returns for any other name.</summary>
    /// <param name="name">Its name, or what stands before the dot in it.</param>
    /// <param name="position">Where it stands.</param>
    /// <param name="rest">What stands behind <paramref name="name"/>: <c>.within</c>.</param>
    /// <exception cref="QueryException">It is one of them.</exception>
    public static void RefuseFunction(string name, int position, string rest = "")
    {
        if (Functions.Contains(name))
        {
            throw Refusal($"{name}{rest}()", position);
        }
    }

    /// <summary>Refuses a clause that RavenDB has; returns for any other word.</summary>
    /// <exception cref="QueryException">It is one of them.</exception>
    public static void RefuseClause(in RqlToken word)
    {
        if (word.IsKeyword("with") || word.IsKeyword("match"))
        {
            throw Refusal(word.Text.ToLowerInvariant(), word.Position);
        }
    }

    /// <summary>What to throw for a part of RQL that is not there.</summary>
    public static QueryException Refusal(string part, int position) =>
        new(QueryFault.NotSupported, $"'{part}' is not supported by this version.", position);
}
