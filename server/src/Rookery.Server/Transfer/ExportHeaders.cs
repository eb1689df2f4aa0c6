using Rookery.Documents.Databases;

namespace Rookery.Server.Transfer;

/// <summary>Headers of an export: its number of documents, and how much of the database it leaves out.</summary>
public static class ExportHeaders
{
    /// <summary>The number of documents, which is the number of lines.</summary>
    public const string Count = "Rookery-Documents";

    /// <summary>The number of counters, whose values are not in the export.</summary>
    public const string LeftOutCounters = "Rookery-Left-Out-Counters";

    /// <summary>The number of attachments, whose contents are not in the export.</summary>
    public const string LeftOutAttachments = "Rookery-Left-Out-Attachments";

    /// <summary>The number of revisions.</summary>
    public const string LeftOutRevisions = "Rookery-Left-Out-Revisions";

    /// <summary>The number of compare-exchange values, without atomic guards.</summary>
    public const string LeftOutCompareExchange = "Rookery-Left-Out-Compare-Exchange";

    /// <summary>The number of identities.</summary>
    public const string LeftOutIdentities = "Rookery-Left-Out-Identities";

    /// <summary>The number of indexes that users defined.</summary>
    public const string LeftOutIndexes = "Rookery-Left-Out-Indexes";

    /// <summary>Returns the number of indexes of a database that a user defined, not a query.</summary>
    public static int CountDefinedIndexes(in DatabaseReader reader) =>
        reader.ReadIndexes().Count(static index => !index.Name.StartsWith("Auto/", StringComparison.OrdinalIgnoreCase));
}
