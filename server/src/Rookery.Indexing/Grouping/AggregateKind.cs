namespace Rookery.Indexing.Grouping;

/// <summary>The aggregates of a grouped query.</summary>
public enum AggregateKind
{
    /// <summary><c>count()</c>.</summary>
    Count,

    /// <summary><c>sum(path)</c>.</summary>
    Sum,

    /// <summary><c>min(path)</c>.</summary>
    Min,

    /// <summary><c>max(path)</c>.</summary>
    Max,

    /// <summary><c>avg(path)</c>.</summary>
    Average,
}
