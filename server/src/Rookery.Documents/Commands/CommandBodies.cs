using Rookery.Documents.Indexes;

namespace Rookery.Documents.Commands;

/// <summary>A client's HiLo generator asks for a range.</summary>
public readonly ref struct HiloNextCommand
{
    /// <summary>The collection's tag.</summary>
    public ReadOnlySpan<byte> Tag { get; init; }

    /// <summary>The tag lower-cased by the proposer; empty when it is ASCII.</summary>
    public ReadOnlySpan<byte> LowerTag { get; init; }

    /// <summary>Size of the client's last range, 0 for the first.</summary>
    public long LastBatchSize { get; init; }

    /// <summary>When it got it, UTC ticks.</summary>
    public long LastRangeAtTicks { get; init; }

    /// <summary>Its end.</summary>
    public long LastMax { get; init; }

    /// <summary>Between tag and number.</summary>
    public byte Separator { get; init; }
}

/// <summary>A client gives the rest of its range back.</summary>
public readonly ref struct HiloReturnCommand
{
    /// <summary>The collection's tag.</summary>
    public ReadOnlySpan<byte> Tag { get; init; }

    /// <summary>The tag lower-cased by the proposer; empty when it is ASCII.</summary>
    public ReadOnlySpan<byte> LowerTag { get; init; }

    /// <summary>The last id it used.</summary>
    public long Last { get; init; }

    /// <summary>The end of its range.</summary>
    public long End { get; init; }
}

/// <summary>Sets an identity.</summary>
public readonly ref struct IdentitySeedCommand
{
    /// <summary>The identity, lower-cased, bar included.</summary>
    public ReadOnlySpan<byte> Name { get; init; }

    /// <summary>The new value.</summary>
    public long Value { get; init; }

    /// <summary>Also downwards.</summary>
    public bool Force { get; init; }
}

/// <summary>Makes a database.</summary>
public readonly ref struct CreateDatabaseCommand
{
    /// <summary>Its name.</summary>
    public ReadOnlySpan<byte> Name { get; init; }

    /// <summary>The name lower-cased by the proposer.</summary>
    public ReadOnlySpan<byte> LowerName { get; init; }

    /// <summary>The history id of its first life.</summary>
    public ReadOnlySpan<byte> HistoryId { get; init; }
}

/// <summary>Stores or deletes a cluster record.</summary>
public readonly ref struct ClusterRecordCommand
{
    /// <summary>Its key, ASCII.</summary>
    public ReadOnlySpan<byte> Key { get; init; }

    /// <summary>What to store.</summary>
    public ReadOnlySpan<byte> Value { get; init; }

    /// <summary>Whether it is deleted.</summary>
    public bool IsDelete { get; init; }

    /// <summary>Whether the record must have <see cref="ExpectedVersion"/>.</summary>
    public bool HasExpectation { get; init; }

    /// <summary>The version it must have; 0 when there must be none.</summary>
    public long ExpectedVersion { get; init; }
}

/// <summary>Defines, deletes or configures an index.</summary>
public readonly ref struct IndexCommand
{
    /// <summary>What is done.</summary>
    public IndexCommandKind Kind { get; init; }

    /// <summary>Which index, lower-cased by the proposer.</summary>
    public ReadOnlySpan<byte> LowerName { get; init; }

    /// <summary>Put: its name.</summary>
    public ReadOnlySpan<byte> Name { get; init; }

    /// <summary>Put: its definition.</summary>
    public ReadOnlySpan<byte> Definition { get; init; }

    /// <summary>Put and Configure: how it is kept.</summary>
    public IndexSettingsChange Settings { get; init; }
}
