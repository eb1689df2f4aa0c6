using Rookery.Documents.Databases;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Indexes;

/// <summary>The etag that the results of an index must include to be fresh.</summary>
public static class FreshEtag
{
    /// <summary>
    /// Returns the etag for an index. Changes of values of counters concern only indexes that read them.
    /// </summary>
    public static long Of(Database database, IIndexMap map) =>
        map.ReadsCounters ? database.LastEtag : database.LastEtagForIndexes;

    /// <summary>
    /// Returns the etag for the indexes of a name. An index that this node has not opened may read counters.
    /// </summary>
    public static long Of(Database database, IndexHost host, string name) =>
        host.TryGetSlot(database, name, out var slot) && !slot.All.Any(static index => index.Map.ReadsCounters)
            ? database.LastEtagForIndexes
            : database.LastEtag;
}
