using Rookery.Documents.Databases;
using Rookery.Platform;
using Rookery.Server.Transfer;

namespace Rookery.Transfer;

/// <summary>The parts of a database that an export leaves out.</summary>
/// <param name="Counters">Number of counters, whose values are in no export.</param>
/// <param name="Attachments">Number of attachments, whose contents are in no export.</param>
/// <param name="Revisions">Number of revisions.</param>
/// <param name="CompareExchangeValues">Number of compare-exchange values, without atomic guards.</param>
/// <param name="Identities">Number of identities.</param>
/// <param name="Indexes">Number of indexes that a user defined.</param>
internal readonly record struct LeftOut(
    long Counters,
    long Attachments,
    long Revisions,
    long CompareExchangeValues,
    long Identities,
    long Indexes
)
{
    /// <summary>Returns what the export of a database leaves out.</summary>
    public static LeftOut Of(in DatabaseReader reader)
    {
        var statistics = reader.ReadStatistics();
        return new(
            statistics.DocumentCounters,
            statistics.Attachments.Attachments,
            statistics.Revisions,
            reader.CountCompareExchangeOfUsers(),
            statistics.Identities,
            ExportHeaders.CountDefinedIndexes(reader)
        );
    }

    /// <summary>Adds what two exports leave out.</summary>
    public static LeftOut operator +(LeftOut left, LeftOut right) =>
        new(
            left.Counters + right.Counters,
            left.Attachments + right.Attachments,
            left.Revisions + right.Revisions,
            left.CompareExchangeValues + right.CompareExchangeValues,
            left.Identities + right.Identities,
            left.Indexes + right.Indexes
        );

    /// <summary>Returns a list of the data left out; null if none are.</summary>
    public string? DescribeData() =>
        Join(
            (Counters, $"values of {Amount.Of(Counters, "counter")}"),
            (Attachments, $"contents of {Amount.Of(Attachments, "attachment")}"),
            (Revisions, Amount.Of(Revisions, "revision")),
            (CompareExchangeValues, Amount.Of(CompareExchangeValues, "compare-exchange value"))
        );

    /// <summary>
    /// Returns a list of the identities and indexes left out; null if none are. They are
    /// no reason for an exit code, because most databases have indexes.
    /// </summary>
    public string? DescribeDefinitions() =>
        Join(
            (Identities, Amount.Of(Identities, "identity", "identities")),
            (Indexes, Amount.Of(Indexes, "index", "indexes"))
        );

    private static string? Join(params ReadOnlySpan<(long Count, string Text)> all)
    {
        var parts = new List<string>();
        foreach (var (count, text) in all)
        {
            if (count > 0)
            {
                parts.Add(text);
            }
        }

        return parts.Count switch
        {
            0 => null,
            1 => parts[0],
            _ => $"{string.Join(", ", parts[..^1])} and {parts[^1]}",
        };
    }
}
