namespace Rookery.Indexing.Mapping;

/// <summary>What an index does on this node.</summary>
public enum IndexState
{
    /// <summary>It follows the documents.</summary>
    Normal,

    /// <summary>It was paused on this node until it is resumed, or the node starts again.</summary>
    Paused,

    /// <summary>It was disabled on all members.</summary>
    Disabled,

    /// <summary>It cannot take the documents; its status says why.</summary>
    Error,
}
