using Rookery.Json;

namespace Rookery.Documents.Parsing;

/// <summary>Describes RavenDB command types that this server does not support.</summary>
internal static class UnsupportedCommand
{
    private const int MaxBytes = 64;

    /// <summary>Returns one sentence that names the missing feature.</summary>
    /// <param name="where">The request that contains the command ("Bulk insert").</param>
    /// <param name="type">The command's type.</param>
    public static string Describe(string where, ReadOnlySpan<byte> type)
    {
        string name = ShortText.Of(type, MaxBytes);
        string feature = name switch
        {
            "Counters" => "counters",
            "TimeSeries" or "TimeSeriesBulkInsert" or "TimeSeriesWithIncrements" or "TimeSeriesCopy" => "time series",
            "AttachmentPUT" or "AttachmentDELETE" or "AttachmentMOVE" or "AttachmentCOPY" => "attachments",
            "CompareExchangePUT" or "CompareExchangeDELETE" =>
                "compare-exchange values, which need TransactionMode ClusterWide",
            "ForceRevisionCreation" => "revisions",
            "BatchPATCH" or "PATCH" => "patches",
            _ => "an unknown command",
        };
        return $"{where}: commands of type '{name}' ({feature}) are not supported";
    }
}
