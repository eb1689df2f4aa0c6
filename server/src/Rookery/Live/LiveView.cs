using System.Text.Json;

namespace Rookery.Live;

/// <summary>The state of a cluster at one moment, as `/dashboard/live` reports it. Unknown values are null.</summary>
internal sealed record LiveView
{
    public required DateTimeOffset Time { get; init; }

    /// <summary>ok, warning or error.</summary>
    public required string Level { get; init; }

    public required string Sentence { get; init; }

    /// <summary>The cluster's name; null for a node alone.</summary>
    public string? Cluster { get; init; }

    /// <summary>The leader's tag.</summary>
    public string? Leader { get; init; }

    public long? Term { get; init; }

    public IReadOnlyList<(string Severity, string Sentence, string Fix)> Alerts { get; init; } = [];

    public IReadOnlyList<LiveMember> Members { get; init; } = [];

    public IReadOnlyList<LiveIndex> Indexes { get; init; } = [];

    /// <summary>Parses an event.</summary>
    public static LiveView Read(JsonElement state)
    {
        var cluster = state.GetProperty(nameof(Cluster));
        var health = state.GetProperty("Health");
        return new LiveView
        {
            Time = state.GetProperty(nameof(Time)).GetDateTimeOffset(),
            Level = health.GetProperty(nameof(Level)).GetString()!,
            Sentence = health.GetProperty(nameof(Sentence)).GetString()!,
            Cluster = TextOf(cluster, "Name"),
            Leader = TextOf(cluster, "LeaderTag"),
            Term = (long?)NumberOf(cluster, "Term"),
            Alerts =
            [
                .. state
                    .GetProperty(nameof(Alerts))
                    .EnumerateArray()
                    .Select(static alert =>
                        (
                            TextOf(alert, "Severity") ?? "warning",
                            $"{TextOf(alert, "Node")}: {TextOf(alert, "Sentence")}",
                            TextOf(alert, "Fix") ?? string.Empty
                        )
                    ),
            ],
            Members = [.. state.GetProperty("Nodes").EnumerateArray().Select(LiveMember.Read)],
            Indexes =
            [
                .. state
                    .GetProperty(nameof(Indexes))
                    .EnumerateArray()
                    .Select(static index => new LiveIndex(
                        TextOf(index, "Database")!,
                        TextOf(index, "Name")!,
                        TextOf(index, "State")!,
                        index.GetProperty("IsStale").GetBoolean(),
                        (long?)NumberOf(index, "DocumentsLeft"),
                        NumberOf(index, "SecondsLeft"),
                        (long)(NumberOf(index, "Errors") ?? 0)
                    )),
            ],
        };
    }

    /// <summary>Returns a text member; null if there is none.</summary>
    public static string? TextOf(JsonElement parent, string name) =>
        parent.ValueKind == JsonValueKind.Object
        && parent.TryGetProperty(name, out var value)
        && value.ValueKind == JsonValueKind.String
            ? value.GetString()
            : null;

    /// <summary>Returns a number member; null if there is none.</summary>
    public static double? NumberOf(JsonElement parent, string name) =>
        parent.ValueKind == JsonValueKind.Object
        && parent.TryGetProperty(name, out var value)
        && value.ValueKind == JsonValueKind.Number
            ? value.GetDouble()
            : null;
}

/// <summary>An index on the node.</summary>
internal sealed record LiveIndex(
    string Database,
    string Name,
    string State,
    bool IsStale,
    long? DocumentsLeft,
    double? SecondsLeft,
    long Errors
);

/// <summary>A member and its measured values.</summary>
internal sealed record LiveMember
{
    public required string Tag { get; init; }

    public required string Name { get; init; }

    public required string Role { get; init; }

    /// <summary>up, down or unknown.</summary>
    public required string State { get; init; }

    /// <summary>Whether it is the node that sent this state.</summary>
    public bool IsSelf { get; init; }

    /// <summary>
    /// Seconds since the member answered the leader, or the asked node if the leader does not report it.
    /// </summary>
    public double? SeenSeconds { get; init; }

    /// <summary>How many log entries the member is behind the leader.</summary>
    public double? LagEntries { get; init; }

    public double? SyncP99Milliseconds { get; init; }

    public double? ReadsPerSecond { get; init; }

    public double? WritesPerSecond { get; init; }

    public double? ReadP99Milliseconds { get; init; }

    public double? WriteP99Milliseconds { get; init; }

    public double? SyncsPerSecond { get; init; }

    public double? MachineCpuRatio { get; init; }

    public double? ResidentBytes { get; init; }

    public double? TemperatureCelsius { get; init; }

    public double? DiskFreeBytes { get; init; }

    /// <summary>The used part of the card's expected life, 0 to 1; more once that is exceeded.</summary>
    public double? LifeUsedRatio { get; init; }

    /// <summary>The kinds of throttling that the board reports now, such as "under_voltage".</summary>
    public IReadOnlyList<string> Throttled { get; init; } = [];

    /// <summary>Whether the machine may be unplugged, as a sentence; null if unknown.</summary>
    public string? Unplug { get; init; }

    /// <summary>Parses a node of an event.</summary>
    public static LiveMember Read(JsonElement node)
    {
        var sample = node.GetProperty("Sample");
        return new LiveMember
        {
            Tag = LiveView.TextOf(node, "Tag")!,
            Name = LiveView.TextOf(node, "Name") ?? "-",
            Role = LiveView.TextOf(node, "Role") ?? "-",
            State = LiveView.TextOf(node, "State") ?? "unknown",
            IsSelf = node.TryGetProperty(nameof(IsSelf), out var isSelf) && isSelf.ValueKind == JsonValueKind.True,
            SeenSeconds = LiveView.NumberOf(node, "SeenSeconds"),
            LagEntries = LiveView.NumberOf(node, "LagEntries"),
            // The leader's figure is of all syncs since the member started; the sample's is of the last ten seconds.
            SyncP99Milliseconds =
                sample.ValueKind == JsonValueKind.Object
                    ? LiveView.NumberOf(sample, "SyncP99Milliseconds")
                    : LiveView.NumberOf(node, "SyncP99Milliseconds"),
            ReadsPerSecond = LiveView.NumberOf(sample, "ReadsPerSecond"),
            WritesPerSecond = LiveView.NumberOf(sample, "WritesPerSecond"),
            ReadP99Milliseconds = LiveView.NumberOf(sample, "ReadP99Milliseconds"),
            WriteP99Milliseconds = LiveView.NumberOf(sample, "WriteP99Milliseconds"),
            SyncsPerSecond = LiveView.NumberOf(sample, "SyncsPerSecond"),
            MachineCpuRatio = LiveView.NumberOf(sample, "MachineCpuRatio"),
            ResidentBytes = LiveView.NumberOf(sample, "ResidentBytes"),
            TemperatureCelsius = LiveView.NumberOf(sample, "TemperatureCelsius"),
            DiskFreeBytes = LiveView.NumberOf(sample, "DiskFreeBytes"),
            LifeUsedRatio = LiveView.NumberOf(sample, "LifeUsedRatio"),
            Throttled =
                sample.ValueKind == JsonValueKind.Object
                && sample.TryGetProperty(nameof(Throttled), out var throttled)
                && throttled.ValueKind == JsonValueKind.Array
                    ? [.. throttled.EnumerateArray().Select(static kind => kind.GetString()!)]
                    : [],
            Unplug = node.TryGetProperty(nameof(Unplug), out var unplug) ? LiveView.TextOf(unplug, "Sentence") : null,
        };
    }
}
