using Rookery.Indexing.Grouping;

namespace Rookery.Indexing.Automatic;

/// <summary>A key by which an automatic map/reduce index groups entries.</summary>
/// <param name="Path">Member names from the root of the document.</param>
/// <param name="IsOfElement">Whether the key is read from each element of the index's array. Otherwise it is read from
/// the document, and an array is one value.</param>
public sealed record AutoReduceKey(IReadOnlyList<string> Path, bool IsOfElement)
{
    /// <summary>The path as users see it.</summary>
    public string Name => string.Join('.', Path);

    /// <inheritdoc/>
    public bool Equals(AutoReduceKey? other) =>
        other is not null && IsOfElement == other.IsOfElement && Path.SequenceEqual(other.Path, StringComparer.Ordinal);

    /// <inheritdoc/>
    public override int GetHashCode() =>
        Path.Aggregate(IsOfElement.GetHashCode(), static (hash, name) => HashCode.Combine(hash, name));
}

/// <summary>An aggregate that an automatic map/reduce index computes for each group.</summary>
/// <param name="Kind">The kind of aggregate.</param>
/// <param name="Path">Member names from the root of the document; empty for a count.</param>
public sealed record AutoReduceAggregate(AggregateKind Kind, IReadOnlyList<string> Path)
{
    /// <summary>The aggregate as queries write it: <c>sum(total)</c>.</summary>
    public string Name =>
        Kind switch
        {
            AggregateKind.Count => "count()",
            AggregateKind.Average => $"avg({string.Join('.', Path)})",
            _ => $"{Kind.ToString().ToLowerInvariant()}({string.Join('.', Path)})",
        };

    /// <inheritdoc/>
    public bool Equals(AutoReduceAggregate? other) =>
        other is not null && Kind == other.Kind && Path.SequenceEqual(other.Path, StringComparer.Ordinal);

    /// <inheritdoc/>
    public override int GetHashCode() => Path.Aggregate((int)Kind, static (hash, name) => HashCode.Combine(hash, name));
}
