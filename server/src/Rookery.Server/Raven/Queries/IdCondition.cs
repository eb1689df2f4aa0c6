namespace Rookery.Server.Raven.Queries;

/// <summary>How a query that needs no index narrows documents by their ids.</summary>
internal enum IdConditionKind
{
    /// <summary>The id is one of <see cref="IdCondition.Values"/>.</summary>
    OneOf,

    /// <summary>The id begins with the only one of <see cref="IdCondition.Values"/>.</summary>
    StartsWith,
}

/// <summary>A condition on ids.</summary>
/// <param name="Kind">How to compare.</param>
/// <param name="Values">Ids, or one prefix.</param>
internal sealed record IdCondition(IdConditionKind Kind, IReadOnlyList<string> Values);

/// <summary>A query that needs no index.</summary>
internal sealed record IdQuery
{
    /// <summary>The collection, or null for <c>@all_docs</c>.</summary>
    public required string? Collection { get; init; }

    /// <summary>The condition on ids, or null for all documents.</summary>
    public IdCondition? Condition { get; init; }

    /// <summary>How many results to leave out at the beginning.</summary>
    public long Offset { get; init; }

    /// <summary>How many results to give at most; null for all.</summary>
    public long? Limit { get; init; }

    /// <summary>Paths of ids to include.</summary>
    public IReadOnlyList<string> Includes { get; init; } = [];
}
