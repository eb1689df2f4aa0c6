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
        var states = text.Gauge("rookery_indexes", "Indexes of all databases on this node, by what they do.");
        foreach (var state in Enum.GetValues<IndexState>())
        {
            states.Sample(all.Count(index => index.State == state), ("state", NameOf(state)));
        }

        text.Gauge("rookery_indexes_stale", "Of these, those that have not looked at all documents and deletions.")
            .Sample(all.Count(static index => index.IsStale));
        text.Gauge(
                "rookery_indexes_in_trouble",
                "Of these, those that cannot go on for now or at all: indexes/stats says why."
            )
            .Sample(all.Count(static index => index.Trouble is not null));
        text.Gauge(
                "rookery_index_documents_left",
                "Documents and deletions that indexes still have to look at, as far as it can be told, each as "
                    + "often as there are indexes that do."
            )
            .Sample(all.Sum(static index => index.Progress.Total - index.Progress.Done));
        text.Gauge(
                "rookery_index_errors",
                "Documents that indexes could not take since they were built or their errors were forgotten."
            )
            .Sample(all.Sum(static index => index.ErrorCount));
        text.Counter(
                "rookery_indexing_documents_total",
                "Documents and deletions that were read for indexes since the start, each once for all that it "
                    + "was fed to."
            )
            .Sample(indexes.DocumentsRead);
        text.Gauge(
                "rookery_indexing_share_ratio",
                "How much of one core indexing may take; 0 while heat pauses what nobody waits for."
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
