using System.Buffers.Binary;

namespace Rookery.Documents.Patching;

/// <summary>
/// A patch inside a command: a merge patch, a JSON Patch or a compiled script, so that apply never parses script text.
/// </summary>
/// <remarks>The layout: see <see cref="ProgramKind"/> and <see cref="MissingKind"/>.</remarks>
public readonly ref struct PatchProgram
{
    internal const int ReachingHeadBytes = 1 + sizeof(ushort);

    /// <summary>The encoded program; points into its command.</summary>
    public ReadOnlySpan<byte> Bytes { get; init; }

    /// <summary>Whether this is a JSON Patch, which fails if the document does not exist.</summary>
    public bool IsJsonPatch => !Bytes.IsEmpty && (ProgramKind)Bytes[0] == ProgramKind.JsonPatch;

    /// <summary>Whether the patch loads, stores or deletes other documents.</summary>
    public bool Reaches => Bytes.Length >= ReachingHeadBytes && (ProgramKind)Bytes[0] == ProgramKind.Reaching;

    /// <summary>
    /// Number of etags, after the operation's own, that are reserved for the documents that the patch stores or
    /// deletes.
    /// </summary>
    public int ReservedEtags => Reaches ? BinaryPrimitives.ReadUInt16LittleEndian(Bytes[1..]) : 0;

    /// <summary>Bytes before the script.</summary>
    internal int HeadBytes => Reaches ? ReachingHeadBytes : 1;

    /// <summary>Whether the result must contain the whole document.</summary>
    public bool ReturnsDocument { get; init; }

    /// <summary>Whether a mismatch of the change vector skips the patch instead of refusing its batch.</summary>
    public bool SkipsOnMismatch { get; init; }
}

/// <summary>Outcome of a patch.</summary>
public enum PatchStatus : byte
{
    /// <summary>The document does not exist, and the patch creates none.</summary>
    DocumentDoesNotExist = 0,

    /// <summary>The patch created the document.</summary>
    Created = 1,

    /// <summary>The patch changed the document.</summary>
    Patched = 2,

    /// <summary>The expected change vector did not match, and the request skips the patch in this case.</summary>
    Skipped = 3,

    /// <summary>The patch changed nothing.</summary>
    NotModified = 4,

    /// <summary>The patch cannot be applied to this document. Its batch is refused.</summary>
    Failed = 5,
}
