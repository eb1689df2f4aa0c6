using System.Text;
using Rookery.Documents.Ids;

namespace Rookery.Documents.Subscriptions;

/// <summary>The replicated record of one data subscription: its definition and its progress.</summary>
public sealed record SubscriptionRecord
{
    /// <summary>Maximum length of a name in bytes, as written and lower-cased.</summary>
    public const int MaxNameBytes = 256;

    /// <summary>Maximum length of a query in bytes.</summary>
    public const int MaxQueryBytes = 64 << 10;

    /// <summary>Maximum number of subscriptions in a database, because each is a reader of its own.</summary>
    public const int MaxCount = 256;

    /// <summary>The name, in the casing of its definition. Names are compared without regard to casing.</summary>
    public required string Name { get; init; }

    /// <summary>Number of the subscription in its database, from 1, never reused. Clients call it the id.</summary>
    public required long Number { get; init; }

    /// <summary>The query, which this project does not interpret.</summary>
    public required string Query { get; init; }

    /// <summary>Whether the subscription refuses workers.</summary>
    public bool IsDisabled { get; init; }

    /// <summary>Tag of the member that serves the subscription while it is up; null for the leader.</summary>
    public string? MentorNode { get; init; }

    /// <summary>Whether only <see cref="MentorNode"/> serves the subscription, even while it is down.</summary>
    public bool IsPinned { get; init; }

    /// <summary>
    /// Etag of the write that stored the definition or reset the progress; it rises with each such change. A worker of
    /// an older version must connect again.
    /// </summary>
    public required long Version { get; init; }

    /// <summary>All documents up to this etag are processed, or do not match.</summary>
    public required long Progress { get; init; }

    /// <summary>Log time of the last acknowledgement, in UTC ticks; 0 if there was none.</summary>
    public long AcknowledgedTicks { get; init; }

    /// <summary>
    /// Time at which the worker that sent the last acknowledgement connected, in UTC ticks; 0 if there was none.
    /// </summary>
    public long ConnectedTicks { get; init; }

    /// <summary>Returns why a name is not valid, in one sentence; null if it is valid.</summary>
    public static string? NameProblem(string? name)
    {
        if (string.IsNullOrWhiteSpace(name))
        {
            return "A subscription needs a name.";
        }

        string decoded = Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(name));
        if (name.Any(char.IsControl) || !string.Equals(decoded, name, StringComparison.Ordinal))
        {
            return "The name of a subscription has no control characters and no half surrogate pairs.";
        }

        return Encoding.UTF8.GetByteCount(name) > MaxNameBytes || LowerBytes(name).Length > MaxNameBytes
            ? $"The name of a subscription takes at most {MaxNameBytes} bytes of UTF-8."
            : null;
    }

    /// <summary>
    /// Returns the lower-cased name, by which names are compared. The proposer calls it, never apply: nodes may use
    /// different versions of Unicode.
    /// </summary>
    internal static byte[] LowerBytes(string name)
    {
        byte[] written = Encoding.UTF8.GetBytes(name);
        byte[] lower = new byte[2 * written.Length];
        return lower[..DocumentId.ToLower(written, lower)];
    }
}
