namespace Rookery.Documents.Indexes;

/// <summary>How an index is kept, beside what it indexes.</summary>
/// <param name="LockMode">Whether another definition may take its place.</param>
/// <param name="Priority">How it goes before others.</param>
/// <param name="IsDisabled">Whether it follows the documents no more, on all members. It goes on answering with what it
/// holds.</param>
public readonly record struct IndexSettings(IndexLockMode LockMode, IndexPriority Priority, bool IsDisabled);

/// <summary>What is changed of <see cref="IndexSettings"/>; what is null stays as it is.</summary>
/// <param name="LockMode">The new lock.</param>
/// <param name="Priority">The new priority.</param>
/// <param name="IsDisabled">Whether it is disabled.</param>
public readonly record struct IndexSettingsChange(
    IndexLockMode? LockMode = null,
    IndexPriority? Priority = null,
    bool? IsDisabled = null
)
{
    /// <summary>The settings after the change.</summary>
    public IndexSettings ApplyTo(IndexSettings settings) =>
        new(LockMode ?? settings.LockMode, Priority ?? settings.Priority, IsDisabled ?? settings.IsDisabled);
}

/// <summary>Whether the definition of an index may be replaced. Numbers are part of the format.</summary>
public enum IndexLockMode : byte
{
    /// <summary>By any other.</summary>
    Unlock = 0,

    /// <summary>By none: a new definition is passed over, and its writer is told that all is well.</summary>
    LockedIgnore = 1,

    /// <summary>By none: a new definition is refused.</summary>
    LockedError = 2,
}

/// <summary>How an index goes before others of its node. Numbers are part of the format.</summary>
public enum IndexPriority : byte
{
    /// <summary>As all.</summary>
    Normal = 0,

    /// <summary>After the others.</summary>
    Low = 1,

    /// <summary>Before the others.</summary>
    High = 2,
}
