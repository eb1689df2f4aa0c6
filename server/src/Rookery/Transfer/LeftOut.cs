using Rookery.Documents.Databases;
using Rookery.Platform;

namespace Rookery.Transfer;

/// <summary>The parts of documents that an export leaves out.</summary>
/// <param name="Counters">Number of counters, whose values are in no export.</param>
/// <param name="Attachments">Number of attachments, whose contents are in no export.</param>
/// <param name="Revisions">Number of revisions, which are in no export.</param>
internal readonly record struct LeftOut(long Counters, long Attachments, long Revisions)
{
    /// <summary>Returns what the export of a database leaves out.</summary>
    public static LeftOut Of(in DatabaseStatistics statistics) =>
        new(statistics.DocumentCounters, statistics.Attachments.Attachments, statistics.Revisions);

    /// <summary>Adds what two exports leave out.</summary>
    public static LeftOut operator +(LeftOut left, LeftOut right) =>
        new(left.Counters + right.Counters, left.Attachments + right.Attachments, left.Revisions + right.Revisions);

    /// <summary>Whether the export has the names of what it leaves out.</summary>
    public bool HasNames => Counters + Attachments > 0 && Revisions == 0;

    /// <summary>Returns the beginning of a sentence that names what is left out; null if nothing is.</summary>
    public string? Describe()
    {
        string[] parts =
        [
            .. Counters > 0 ? (string[])[$"values of {Amount.Of(Counters, "counter")}"] : [],
            .. Attachments > 0 ? (string[])[$"contents of {Amount.Of(Attachments, "attachment")}"] : [],
            .. Revisions > 0 ? (string[])[Amount.Of(Revisions, "revision")] : [],
        ];
        return parts.Length == 0 ? null : $"The {string.Join(" and the ", parts)}";
    }
}
