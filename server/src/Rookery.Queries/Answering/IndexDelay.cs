using Rookery.Documents.Databases;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;

namespace Rookery.Queries.Answering;

/// <summary>Says why an index is behind the documents.</summary>
public static class IndexDelay
{
    /// <summary>Why an index does not come so far, and what to do, as the rest of a sentence.</summary>
    /// <param name="indexes">The indexes of this node.</param>
    /// <param name="database">Whose documents the index is of.</param>
    /// <param name="name">The index.</param>
    /// <param name="waited">How long it was waited for.</param>
    /// <param name="isWaitedForAtRest">Whether it was waited for although it does not run.</param>
    public static string Why(
        IndexHost indexes,
        Database database,
        string name,
        TimeSpan waited,
        bool isWaitedForAtRest = false
    )
    {
        if (indexes.WhyNotKept(database, name) is { } why)
        {
            return $"is not followed on this node: {why} Or ask another member";
        }

        string wait = isWaitedForAtRest
            ? $", and {waited.TotalMilliseconds:0} ms did not change that"
            : ", so it is not waited for";
        return indexes
            .ReadStatus(database)
            .FirstOrDefault(status =>
                !status.IsReplacement && status.Name.Equals(name, StringComparison.OrdinalIgnoreCase)
            )
            ?.State switch
        {
            IndexState.Disabled =>
                $"is disabled and does not follow the documents{wait}. Enable it with `rookery index enable`",
            IndexState.Paused =>
                $"is paused on this node and does not follow the documents{wait}. Let it go on with `rookery "
                    + $"index resume`",
            IndexState.Error =>
                "stopped because too many documents could not be indexed, so it is not waited for: `rookery index "
                    + "errors` lists them. Correct its definition",
            _ => $"did not come as far as the documents were, and it was waited {waited.TotalMilliseconds:0} "
                + $"ms for it: `rookery index ls` says how far it is. Wait longer",
        };
    }

    /// <summary>Why an index that is there answers nothing on this node, in whole sentences.</summary>
    public static string NotAtWork(string name) =>
        $"The index '{name}' is not at work on this node now: it was defined, replaced or reset a moment ago. "
        + "Ask again.";
}
