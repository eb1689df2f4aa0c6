using Rookery.Platform;

namespace Rookery.Server.Operations;

/// <summary>Kinds of disk work by the names that metrics and /debug/io use.</summary>
internal static class IoKindName
{
    public static string Of(IoKind kind) =>
        kind switch
        {
            IoKind.JournalWrite => "journal_write",
            IoKind.JournalSync => "journal_sync",
            IoKind.RunWrite => "run_write",
            IoKind.Compaction => "compaction",
            IoKind.Read => "read",
            IoKind.Manifest => "manifest",
            IoKind.Backup => "backup",
            IoKind.Scrub => "scrub",
            IoKind.Index => "index",
            IoKind.JournalSpare => "journal_spare",
            _ => "unknown",
        };

    private static readonly Dictionary<string, string> Known = Enum.GetValues<IoKind>()
        .Select(Of)
        .ToDictionary(static name => name, StringComparer.Ordinal);

    /// <summary>The same name, once in memory for all that carry it; one of a newer version as it is.</summary>
    public static string Shared(string name) => Known.GetValueOrDefault(name, name);
}
