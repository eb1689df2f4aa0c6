using Rookery.Documents.Indexes;

namespace Rookery.Documents.Commands;

/// <summary>Requests the next id range for a client's HiLo generator.</summary>
public readonly ref struct HiloNextCommand
{
    /// <summary>The collection's tag.</summary>
    public ReadOnlySpan<byte> Tag { get; init; }

    /// <summary>
    /// The tag lower-cased by the proposer; empty if the tag is ASCII, which apply lower-cases itself.
    /// </summary>
    public ReadOnlySpan<byte> LowerTag { get; init; }

    /// <summary>Size of the client's last range; 0 for its first request.</summary>
    public long LastBatchSize { get; init; }

    /// <summary>Time at which the client received its last range, in UTC ticks.</summary>
    public long LastRangeAtTicks { get; init; }

    /// <summary>Last number of the client's last range.</summary>
    public long LastMax { get; init; }

    /// <summary>Character between the tag and the number. Apply ignores it: clients build the ids.</summary>
    public byte Separator { get; init; }

    /// <summary>Whether the document keeps its metadata; entries from before format level 3 remove it.</summary>
    public bool KeepsMetadata { get; init; }
}

/// <summary>Returns the unused end of a client's range.</summary>
public readonly ref struct HiloReturnCommand
{
    /// <summary>The collection's tag.</summary>
    public ReadOnlySpan<byte> Tag { get; init; }

    /// <summary>
    /// The tag lower-cased by the proposer; empty if the tag is ASCII, which apply lower-cases itself.
    /// </summary>
    public ReadOnlySpan<byte> LowerTag { get; init; }

    /// <summary>The last number that the client used.</summary>
    public long Last { get; init; }

    /// <summary>The last number of the client's range.</summary>
    public long End { get; init; }

    /// <summary>See <see cref="HiloNextCommand.KeepsMetadata"/>.</summary>
    public bool KeepsMetadata { get; init; }
}

/// <summary>Sets an identity.</summary>
public readonly ref struct IdentitySeedCommand
{
    /// <summary>The identity's name, lower-cased, with the <c>|</c> at its end.</summary>
    public ReadOnlySpan<byte> Name { get; init; }

    /// <summary>The new value.</summary>
    public long Value { get; init; }

    /// <summary>Whether the identity may be lowered.</summary>
    public bool IsForced { get; init; }
}

/// <summary>Creates a database.</summary>
public readonly ref struct CreateDatabaseCommand
{
    /// <summary>The database's name.</summary>
    public ReadOnlySpan<byte> Name { get; init; }

    /// <summary>The name lower-cased by the proposer.</summary>
    public ReadOnlySpan<byte> LowerName { get; init; }

    /// <summary>The database's first history id.</summary>
    public ReadOnlySpan<byte> HistoryId { get; init; }
}

/// <summary>Stores or deletes a cluster record.</summary>
public readonly ref struct ClusterRecordCommand
{
    /// <summary>The record's key, ASCII.</summary>
    public ReadOnlySpan<byte> Key { get; init; }

    /// <summary>The value to store.</summary>
    public ReadOnlySpan<byte> Value { get; init; }

    /// <summary>Whether the record is deleted.</summary>
    public bool IsDelete { get; init; }

    /// <summary>Whether the record must have the version <see cref="ExpectedVersion"/>.</summary>
    public bool HasExpectation { get; init; }

    /// <summary>The version that the record must have; 0 if it must not exist.</summary>
    public long ExpectedVersion { get; init; }
}

/// <summary>Defines, deletes or configures an index.</summary>
public readonly ref struct IndexCommand
{
    /// <summary>What the command does.</summary>
    public IndexCommandKind Kind { get; init; }

    /// <summary>Name of the index, lower-cased by the proposer.</summary>
    public ReadOnlySpan<byte> LowerName { get; init; }

    /// <summary>Put: the name as the client wrote it.</summary>
    public ReadOnlySpan<byte> Name { get; init; }

    /// <summary>Put: the definition.</summary>
    public ReadOnlySpan<byte> Definition { get; init; }

    /// <summary>Put and Configure: the settings to change.</summary>
    public IndexSettingsChange Settings { get; init; }
}

/// <summary>Sets a configuration of a database, or of the server.</summary>
public readonly ref struct SetConfigurationCommand
{
    /// <summary>Whether the configuration must have <see cref="ExpectedEtag"/>.</summary>
    public bool HasExpectation { get; init; }

    /// <summary>The expected etag of the configuration; 0 if it must never have been set.</summary>
    public long ExpectedEtag { get; init; }

    /// <summary>Name of the configuration.</summary>
    public ReadOnlySpan<byte> Name { get; init; }

    /// <summary>Its JSON text; <c>null</c> removes it.</summary>
    public ReadOnlySpan<byte> Json { get; init; }
}

/// <summary>A document in a <see cref="CommandKind.RunSchedule"/>.</summary>
public readonly ref struct ScheduledDocument
{
    /// <summary>Etag of the version to change. A document that has another etag already is left unchanged.</summary>
    public long Etag { get; init; }

    /// <summary>The time at which the document is due according to its row in the schedule, in UTC ticks.</summary>
    public long DueTicks { get; init; }

    /// <summary>The lower-cased id.</summary>
    public ReadOnlySpan<byte> LowerId { get; init; }
}
