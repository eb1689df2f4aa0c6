namespace Rookery.Documents.Patching;

/// <summary>A patch as a command carries it: a merge patch or a compiled script. Apply never parses text.</summary>
public readonly ref struct PatchProgram
{
    /// <summary>The encoded program, inside its command.</summary>
    public ReadOnlySpan<byte> Bytes { get; init; }

    /// <summary>True when the answer must hold the whole document.</summary>
    public bool ReturnDocument { get; init; }

    /// <summary>True when a mismatch of the change vector skips the patch instead of failing its batch.</summary>
    public bool SkipOnMismatch { get; init; }
}

/// <summary>What a patch came to.</summary>
public enum PatchStatus : byte
{
    /// <summary>The document is not there, and the patch makes none.</summary>
    DocumentDoesNotExist = 0,

    /// <summary>A document was made.</summary>
    Created = 1,

    /// <summary>The document changed.</summary>
    Patched = 2,

    /// <summary>The expected change vector did not match, and the request said to skip then.</summary>
    Skipped = 3,

    /// <summary>The document is as it was.</summary>
    NotModified = 4,

    /// <summary>The patch cannot be applied to this document; its batch fails.</summary>
    Failed = 5,
}
