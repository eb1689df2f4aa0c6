using Rookery.Documents.Consensus;

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

    /// <summary>It names an index that there is not: 404.</summary>
    IndexMissing,

    /// <summary>The index that it names is not at work on this node: 503.</summary>
    IndexUnavailable,

    /// <summary>It was to wait for an index, which did not come so far in time: 500.</summary>
    IndexBehind,

    /// <summary>The node or the cluster refused what it needs: <see cref="QueryException.Rejection"/>.</summary>
    Rejected,
}

/// <summary>A query is refused. The message is for the person who wrote it: what, where, and what to do.</summary>
/// <param name="fault">Why.</param>
/// <param name="message">One sentence or two, without the place; <see cref="Position"/> holds that.</param>
/// <param name="position">Characters of the query's text before the place; -1 when no place is to blame.</param>
public sealed class QueryException(QueryFault fault, string message, int position = -1) : Exception(message)
{
    /// <summary>What it needs was refused.</summary>
    /// <param name="rejection">Why.</param>
    public QueryException(Rejection rejection)
        : this(QueryFault.Rejected, rejection.Message) => Rejection = rejection;

    /// <summary>Why.</summary>
    public QueryFault Fault => fault;

    /// <summary>Of <see cref="QueryFault.Rejected"/>, what was refused; null otherwise.</summary>
    public Rejection? Rejection { get; }

    /// <summary>Characters of the query's text before the place; -1 when no place is to blame.</summary>
    public int Position => position;
}
