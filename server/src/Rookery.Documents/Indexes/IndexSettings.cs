namespace Rookery.Documents.Indexes;

/// <summary>Settings of an index, apart from its definition.</summary>
/// <param name="LockMode">Whether the definition may be replaced.</param>
/// <param name="Priority">Its priority among the node's indexes.</param>
/// <param name="IsDisabled">Whether all members have stopped updating the index. It still answers queries from its old
/// content.</param>
public readonly record struct IndexSettings(IndexLockMode LockMode, IndexPriority Priority, bool IsDisabled);

/// <summary>A change of <see cref="IndexSettings"/>; null values stay as they are.</summary>
/// <param name="LockMode">The new lock mode.</param>
/// <param name="Priority">The new priority.</param>
/// <param name="IsDisabled">Whether the index is disabled.</param>
public readonly record struct IndexSettingsChange(
    IndexLockMode? LockMode = null,
    IndexPriority? Priority = null,
    bool? IsDisabled = null
)
{
    /// <summary>Returns the settings after the change.</summary>
    public IndexSettings ApplyTo(IndexSettings settings) =>
        new(LockMode ?? settings.LockMode, Priority ?? settings.Priority, IsDisabled ?? settings.IsDisabled);
}

/// <summary>Whether the definition of an index may be replaced. Numbers are part of the format.</summary>
public enum IndexLockMode : byte
{
    /// <summary>Any definition may replace it.</summary>
    Unlock = 0,

    /// <summary>No definition may replace it: a new definition is ignored, and its sender receives a success.</summary>
    LockedIgnore = 1,

    /// <summary>No definition may replace it: a new definition is refused.</summary>
    LockedError = 2,
}

/// <summary>Priority of an index among the indexes of its node. Numbers are part of the format.</summary>
public enum IndexPriority : byte
{
    /// <summary>The default.</summary>
    Normal = 0,

    /// <summary>Lower than the default.</summary>
    Low = 1,

    /// <summary>Higher than the default.</summary>
    High = 2,
}
