using System.Collections.Immutable;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Schedules;
using Rookery.Platform;

namespace Rookery.Documents.Databases;

/// <summary>
/// The configurations of a database, or of the server: JSON texts by name, which all members have. Immutable: a command
/// (<see cref="Commands.CommandKind.SetConfiguration"/>) publishes a new object. The node that proposes a configuration
/// has validated its text. Apply only stores it, so members of different versions agree.
/// </summary>
public sealed class DatabaseConfigurations
{
    /// <summary>Maximum length of a name in bytes of UTF-8.</summary>
    public const int MaxNameBytes = 64;

    /// <summary>
    /// Maximum length of a configuration in bytes. A command with a longer one is refused. All configurations are in
    /// memory.
    /// </summary>
    public const int MaxBytes = 32 << 10;

    /// <summary>
    /// Maximum number of configurations of one database. A command that would exceed the number is refused.
    /// </summary>
    public const int MaxCount = 32;

    private readonly ImmutableArray<DatabaseConfiguration> _all;

    private DatabaseConfigurations(ImmutableArray<DatabaseConfiguration> all)
    {
        _all = all;
        foreach (var configuration in all)
        {
            LastEtag = Math.Max(LastEtag, configuration.Etag);
            if (configuration.Name is not ConfigurationName.ScheduleProgress)
            {
                Etag = Math.Max(Etag, configuration.Etag);
            }
        }

        KeepsSchedules = Find(ConfigurationName.Refresh).Etag != 0 || Find(ConfigurationName.DataArchival).Etag != 0;
        KeepsExpired = Find(ConfigurationName.Expiration) is { IsSet: true } expiration && Disables(expiration.Json);
        IsDisabled = Find(ConfigurationName.Disabled).Json.Span.SequenceEqual("true"u8);
        LockMode = Find(ConfigurationName.LockMode).Json.Span switch
        {
            var mode when mode.SequenceEqual(PreventDeletesIgnore) => DatabaseLockMode.PreventDeletesIgnore,
            var mode when mode.SequenceEqual(PreventDeletesError) => DatabaseLockMode.PreventDeletesError,
            _ => DatabaseLockMode.Unlock,
        };
    }

    private static ReadOnlySpan<byte> PreventDeletesIgnore => "\"PreventDeletesIgnore\""u8;

    private static ReadOnlySpan<byte> PreventDeletesError => "\"PreventDeletesError\""u8;

    /// <summary>No configurations.</summary>
    public static DatabaseConfigurations None { get; } = new([]);

    /// <summary>
    /// Etag of the last change of any configuration by a client; 0 if there was none. It never falls.
    /// </summary>
    public long Etag { get; }

    private long LastEtag { get; }

    /// <summary>
    /// Whether the database is disabled: it keeps its data, and refuses reads and writes until it is enabled.
    /// </summary>
    public bool IsDisabled { get; }

    /// <summary>
    /// Whether the database has rows about the times of <c>@refresh</c> and <c>@archive-at</c>: from the first
    /// configuration of refresh or archival on.
    /// </summary>
    public bool KeepsSchedules { get; }

    /// <summary>
    /// Whether the configuration of expiration is disabled: documents stay, whatever their <c>@expires</c> says.
    /// </summary>
    public bool KeepsExpired { get; }

    /// <summary>Whether the database may be deleted.</summary>
    public DatabaseLockMode LockMode { get; }

    /// <summary>Number of configurations that were ever set, including those that were removed.</summary>
    public int Count => _all.Length;

    /// <summary>
    /// Finds a configuration by its exact name. Returns the default value, with an empty text and etag 0, if it was
    /// never set. A removed configuration has the text <c>null</c> and the etag of its removal.
    /// </summary>
    public DatabaseConfiguration Find(string name)
    {
        foreach (var configuration in _all)
        {
            if (string.Equals(configuration.Name, name, StringComparison.Ordinal))
            {
                return configuration;
            }
        }

        return default;
    }

    /// <summary>Returns the configurations with one of them replaced or added.</summary>
    internal DatabaseConfigurations With(DatabaseConfiguration changed)
    {
        Invariant.Holds(changed.Etag > LastEtag, "the etag of configurations rises with each change");
        var others = _all.RemoveAll(other => string.Equals(other.Name, changed.Name, StringComparison.Ordinal));
        return new DatabaseConfigurations(others.Add(changed));
    }

    /// <summary>Creates the configurations from their rows.</summary>
    internal static DatabaseConfigurations Of(IEnumerable<DatabaseConfiguration> all) => new([.. all]);

    private static bool Disables(ReadOnlyMemory<byte> json)
    {
        using var document = JsonDocument.Parse(json);
        return document.RootElement.ValueKind == JsonValueKind.Object
            && document.RootElement.TryGetProperty(ScheduleConfiguration.DisabledMember, out var disabled)
            && disabled.ValueKind == JsonValueKind.True;
    }

    /// <summary>Returns whether a name fits into a key and into the limit.</summary>
    internal static bool IsName(string name) => name.Length > 0 && Ascii.IsValid(name) && name.Length <= MaxNameBytes;
}

/// <summary>
/// Whether a database may be deleted. The names are those of RavenDB; <see cref="ConfigurationName.LockMode"/> stores
/// them.
/// </summary>
public enum DatabaseLockMode
{
    /// <summary>It may be deleted.</summary>
    Unlock = 0,

    /// <summary>A deletion leaves it as it is, and reports nothing.</summary>
    PreventDeletesIgnore = 1,

    /// <summary>A deletion is refused, also for the other databases that it names.</summary>
    PreventDeletesError = 2,
}

/// <summary>A configuration of a database, or of the server.</summary>
/// <param name="Name">Its name, one of <see cref="ConfigurationName"/>.</param>
/// <param name="Json">Its JSON text, in UTF-8; <c>null</c> if it was removed, empty if it was never set.</param>
/// <param name="Etag">Etag of its last change.</param>
public readonly record struct DatabaseConfiguration(string Name, ReadOnlyMemory<byte> Json, long Etag)
{
    /// <summary>Whether there is a configuration: it was set, and was not removed later.</summary>
    public bool IsSet => !Json.IsEmpty && !Json.Span.SequenceEqual("null"u8);
}

/// <summary>Names of configurations. They are part of the format.</summary>
public static class ConfigurationName
{
    /// <summary>When documents are deleted whose <c>@expires</c> has passed.</summary>
    public const string Expiration = "expiration";

    /// <summary>When documents are refreshed whose <c>@refresh</c> has passed.</summary>
    public const string Refresh = "refresh";

    /// <summary>When documents are archived whose <c>@archive-at</c> has passed.</summary>
    public const string DataArchival = "data-archival";

    /// <summary>
    /// How far the leader has registered the documents that are older than <see cref="Refresh"/> and
    /// <see cref="DataArchival"/>: see <see cref="Schedules.ScheduleProgress"/>.
    /// </summary>
    public const string ScheduleProgress = "schedule-progress";

    /// <summary>The conventions that clients adopt; of a database, or of the server for all databases.</summary>
    public const string Client = "client";

    /// <summary>Where alerts are sent, and when not; of the server only.</summary>
    public const string Alerts = "alerts";

    /// <summary>The settings of the database's record.</summary>
    public const string Settings = "settings";

    /// <summary>
    /// <c>true</c> while the database is disabled: see <see cref="DatabaseConfigurations.IsDisabled"/>.
    /// </summary>
    public const string Disabled = "disabled";

    /// <summary>A <see cref="DatabaseLockMode"/>, as a JSON string.</summary>
    public const string LockMode = "lock-mode";
}
