using Rookery.Documents.Consensus;

namespace Rookery.Queries.Language;

/// <summary>Why a query is refused.</summary>
public enum QueryFault
{
    /// <summary>The query is not valid RQL or makes no sense. HTTP: 400.</summary>
    Invalid,

    /// <summary>The query uses a part of RQL that this version lacks. HTTP: 501.</summary>
    NotSupported,

    /// <summary>The query exceeds its time, memory or size; the message names the limit. HTTP: 400.</summary>
    TooCostly,

    /// <summary>The named index does not exist. HTTP: 404.</summary>
    IndexMissing,

    /// <summary>The named index does not run on this node now. HTTP: 503.</summary>
    IndexUnavailable,

    /// <summary>The index did not catch up within the query's wait. HTTP: 500.</summary>
    IndexBehind,

    /// <summary>
    /// The node or the cluster refused something that the query needs, see <see cref="QueryException.Rejection"/>.
    /// </summary>
    Rejected,
}

/// <summary>A query is refused. The message is for its author: what is wrong, where, and what to do.</summary>
/// <param name="fault">The kind of refusal.</param>
/// <param name="message">One or two sentences, without the position.</param>
/// <param name="position">The position in the query's text, in characters from 0; -1 if the error has none.</param>
public sealed class QueryException(QueryFault fault, string message, int position = -1) : Exception(message)
{
    /// <summary>Creates an exception for a refusal by the node or the cluster.</summary>
    /// <param name="rejection">The refusal.</param>
    public QueryException(Rejection rejection)
        : this(QueryFault.Rejected, rejection.Message) => Rejection = rejection;

    /// <summary>The kind of refusal.</summary>
    public QueryFault Fault => fault;

    /// <summary>
    /// The refusal of a query that held little when the budget was full: other requests, or the node's own work, hold
    /// the memory. The client may send it again, but on a node with little memory that may never succeed.
    /// </summary>
    public static Rejection MemoryTaken { get; } =
        new(
            RejectionKind.Overloaded,
            "Other requests, or work of the node such as building indexes, hold the memory that this query needs. Try "
                + "again in a second, or ask another node. If it is refused each time, ask for fewer results, groups "
                + "or distinct values at once, or give the node more memory with --memory."
        );

    /// <summary>The refusal, if <see cref="Fault"/> is <see cref="QueryFault.Rejected"/>; otherwise null.</summary>
    public Rejection? Rejection { get; }

    /// <summary>The position in the query's text, in characters from 0; -1 if the error has none.</summary>
    public int Position => position;
}
