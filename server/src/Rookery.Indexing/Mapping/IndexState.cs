namespace Rookery.Indexing.Mapping;

/// <summary>Whether an index of this node runs, and if not, why.</summary>
public enum IndexState
{
    /// <summary>The index follows the documents.</summary>
    Normal,

    /// <summary>Paused on this node until it is resumed or the node restarts.</summary>
    Paused,

    /// <summary>Disabled on all members.</summary>
    Disabled,

    /// <summary>Stopped because too many documents failed; the status has the reason.</summary>
    Error,
}
