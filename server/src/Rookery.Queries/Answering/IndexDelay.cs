using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;

namespace Rookery.Queries.Answering;

/// <summary>Explains why an index lags behind the documents or cannot answer.</summary>
public static class IndexDelay
{
    /// <summary>
    /// Returns why an index did not catch up and what to do. The text continues a sentence that begins with the index's
    /// name.
    /// </summary>
    /// <param name="indexes">The indexes of this node.</param>
    /// <param name="database">The database.</param>
    /// <param name="name">The name of the index.</param>
    /// <param name="waited">The time waited.</param>
    /// <param name="whilePausedOrDisabled">Whether the caller waited although the index is disabled or paused.</param>
    public static string Why(
        IndexHost indexes,
        Database database,
        string name,
        TimeSpan waited,
        bool whilePausedOrDisabled = false
    )
    {
        if (indexes.WhyNotMaintained(database, name) is { } why)
        {
            return $"is not maintained on this node: {why} Or query another member";
        }

        string wait = whilePausedOrDisabled
            ? $", also after a wait of {waited.TotalMilliseconds:0} ms"
            : ", so the query does not wait for it";
        return indexes
            .ReadStatus(database)
            .FirstOrDefault(status => !status.IsReplacement && IgnoredCase.OfNames.Equals(status.Name, name))
            ?.State switch
        {
            IndexState.Disabled =>
                $"is disabled and lags behind the documents{wait}. Enable it with `rookery index enable`",
            IndexState.Paused => $"is paused on this node and lags behind the documents{wait}. Resume it with `rookery "
                + $"index resume`",
            IndexState.Error =>
                "stopped because too many documents could not be indexed, so the query does not wait: `rookery index "
                    + "errors` lists them. Correct its definition",
            _ => $"did not catch up with the documents within {waited.TotalMilliseconds:0} "
                + $"ms: `rookery index ls` shows its progress. Wait longer",
        };
    }

    /// <summary>Returns the message for an index that is defined but cannot answer on this node now.</summary>
    public static string NotReady(string name) =>
        $"The index '{name}' is not ready on this node: it was defined, replaced or reset a moment ago. "
        + "Retry the query.";
}
