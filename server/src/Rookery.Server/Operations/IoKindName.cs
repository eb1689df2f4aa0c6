using Rookery.Platform;

namespace Rookery.Server.Operations;

/// <summary>Names of the kinds of disk operations in metrics and /debug/io.</summary>
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

    /// <summary>
    /// Returns the shared string for a known name, to save memory. Returns a name of a newer version unchanged.
    /// </summary>
    public static string Shared(string name) => Known.GetValueOrDefault(name, name);
}
