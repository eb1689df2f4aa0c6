using System.Text.Json;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Schedules;

/// <summary>When the node expires, refreshes or archives documents of a database, and how many at once.</summary>
/// <param name="IsEnabled">Whether the node does so.</param>
/// <param name="Frequency">Time between two rounds.</param>
/// <param name="MaxItems">Maximum number of documents in one round.</param>
public readonly record struct ScheduleConfiguration(bool IsEnabled, TimeSpan Frequency, long MaxItems)
{
    /// <summary>The longest time between two rounds that a client can set, in seconds: a hundred years.</summary>
    public const long MaxSeconds = 100L * 365 * 24 * 3600;

    /// <summary>Name of the member that disables the schedule.</summary>
    public const string DisabledMember = "Disabled";

    /// <summary>Name of the member with the maximum number of documents in one round.</summary>
    public const string MaxItemsMember = "MaxItemsToProcess";

    /// <summary>Time between two rounds if no other is configured, as in RavenDB.</summary>
    public static TimeSpan DefaultFrequency { get; } = TimeSpan.FromSeconds(60);

    /// <summary>
    /// Returns the name of the member with the time between two rounds in seconds, as RavenDB's clients send it.
    /// </summary>
    /// <param name="name">Expiration, Refresh or DataArchival of <see cref="ConfigurationName"/>.</param>
    public static string FrequencyMemberOf(string name) =>
        name switch
        {
            ConfigurationName.Expiration => "DeleteFrequencyInSec",
            ConfigurationName.Refresh => "RefreshFrequencyInSec",
            _ => "ArchiveFrequencyInSec",
        };

    /// <summary>
    /// Reads a configuration. Without one, documents expire all the same, but are not refreshed or archived.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="name">Expiration, Refresh or DataArchival of <see cref="ConfigurationName"/>.</param>
    public static ScheduleConfiguration Of(Database database, string name)
    {
        var stored = database.Configurations.Find(name);
        if (!stored.IsSet)
        {
            return new ScheduleConfiguration(name is ConfigurationName.Expiration, DefaultFrequency, long.MaxValue);
        }

        using var document = JsonDocument.Parse(stored.Json);
        var root = document.RootElement;
        return new ScheduleConfiguration(
            !(root.TryGetProperty(DisabledMember, out var disabled) && disabled.ValueKind == JsonValueKind.True),
            ReadNumber(root, FrequencyMemberOf(name)) is { } seconds ? TimeSpan.FromSeconds(seconds) : DefaultFrequency,
            ReadNumber(root, MaxItemsMember) ?? long.MaxValue
        );
    }

    private static long? ReadNumber(JsonElement configuration, string member) =>
        configuration.TryGetProperty(member, out var value)
        && value.ValueKind == JsonValueKind.Number
        && value.TryGetInt64(out long number)
            ? number
            : null;
}
