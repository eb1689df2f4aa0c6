using System.Text.Json;
using Rookery.Documents.Nodes;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Mapping;

namespace Rookery.Server.Operations;

/// <summary>State of all indexes of a node, in <c>/readyz?verbose</c> and <c>/metrics</c>.</summary>
internal static class IndexMetrics
{
    public static void Add(PrometheusText text, Node node, IndexHost indexes)
    {
        var all = Read(node, indexes);
        var states = text.Gauge("rookery_indexes", "Indexes of all databases on this node, by state.");
        foreach (var state in Enum.GetValues<IndexState>())
        {
            states.Sample(all.Count(index => index.State == state), ("state", NameOf(state)));
        }

        text.Gauge("rookery_indexes_stale", "Indexes that have not processed all documents and deletions.")
            .Sample(all.Count(static index => index.IsStale));
        text.Gauge(
                "rookery_indexes_in_trouble",
                "Indexes that cannot continue, for now or at all; indexes/stats has the reason."
            )
            .Sample(all.Count(static index => index.Trouble is not null));
        text.Gauge(
                "rookery_index_documents_left",
                "Documents and deletions that indexes still have to process, as far as known, counted once for "
                    + "each index."
            )
            .Sample(all.Sum(static index => index.Progress.Total - index.Progress.Done));
        text.Gauge(
                "rookery_index_errors",
                "Documents that indexes could not process since they were built or their errors were deleted."
            )
            .Sample(all.Sum(static index => index.ErrorCount));
        text.Counter(
                "rookery_indexing_documents_total",
                "Documents and deletions read for indexing since the start, each counted once whatever the "
                    + "number of indexes."
            )
            .Sample(indexes.DocumentsRead);
        text.Gauge(
                "rookery_indexing_share_ratio",
                "Share of one core that indexing may take; 0 while heat pauses indexing for which no request waits."
            )
            .Sample(indexes.ShareOfCore);
    }

    public static void Write(Utf8JsonWriter json, Node node, IndexHost indexes)
    {
        var all = Read(node, indexes);
        json.WriteNumber("Indexes"u8, all.Count);
        json.WriteNumber("StaleIndexes"u8, all.Count(static index => index.IsStale));
        json.WriteNumber("IndexesInTrouble"u8, all.Count(static index => index.Trouble is not null));
    }

    private static List<IndexStatus> Read(Node node, IndexHost indexes) =>
        [.. node.Databases.All.SelectMany(indexes.ReadStatus)];

    private static string NameOf(IndexState state) =>
        state switch
        {
            IndexState.Normal => "normal",
            IndexState.Paused => "paused",
            IndexState.Disabled => "disabled",
            _ => "error",
        };
}
