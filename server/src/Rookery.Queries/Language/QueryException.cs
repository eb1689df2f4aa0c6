namespace Rookery.Queries.Language;

/// <summary>Why a query is refused.</summary>
public enum QueryFault
{
    /// <summary>It is not RQL, or asks for what no query can mean: 400.</summary>
    Invalid,

    /// <summary>It is RQL, of a part that this version does not have: 501.</summary>
    NotSupported,

    /// <summary>It would cost more memory or time than a query may: 400. The sentence names the bound.</summary>
    TooCostly,
}

/// <summary>A query is refused. The message is for the person who wrote it: what, where, and what to do.</summary>
/// <param name="fault">Why.</param>
/// <param name="message">One sentence or two, without the place; <see cref="Position"/> holds that.</param>
/// <param name="position">Characters of the query's text before the place; -1 when no place is to blame.</param>
public sealed class QueryException(QueryFault fault, string message, int position = -1) : Exception(message)
{
    /// <summary>Why.</summary>
    public QueryFault Fault => fault;

    /// <summary>Characters of the query's text before the place; -1 when no place is to blame.</summary>
    public int Position => position;
}
