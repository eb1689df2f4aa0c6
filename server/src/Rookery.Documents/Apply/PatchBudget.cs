using Rookery.Documents.Consensus;
using Rookery.Documents.Parsing;
using Rookery.Platform;

namespace Rookery.Documents.Apply;

/// <summary>
/// Limits the cost of patches, and of the lists and versions that other operations copy, identically on every node. A
/// short command can rewrite large documents, so its length does not bound the memory and time that it needs. Without
/// the limit, an entry could be too costly to apply, and then also to replay.
/// </summary>
internal sealed class PatchBudget
{
    /// <summary>Document bytes that the patches of one command may store. The limit for puts is the same.</summary>
    public const long StoredBytesPerCommand = DocumentLimits.MaxBatchBytes;

    /// <summary>Document bytes that all patches of one entry may store.</summary>
    public const long StoredBytesPerEntry = 2 * StoredBytesPerCommand;

    /// <summary>
    /// Bytes that the patches of one command may read and copy. They take about 0.1 s, during which no other write is
    /// applied.
    /// </summary>
    public const long CopiedBytesPerCommand = 256L << 20;

    /// <summary>Bytes that all patches of one entry may read and copy.</summary>
    public const long CopiedBytesPerEntry = 2 * CopiedBytesPerCommand;

    private long _storedOfCommand;
    private long _storedOfEntry;
    private long _copiedOfCommand;
    private long _copiedOfEntry;

    /// <summary>Bytes that the next patch may read and copy.</summary>
    public long CopiedBytesLeft =>
        Math.Max(0, Math.Min(CopiedBytesPerCommand - _copiedOfCommand, CopiedBytesPerEntry - _copiedOfEntry));

    /// <summary>Returns whether a cost would exceed no limit.</summary>
    public bool HasRoom(long storedBytes, long copiedBytes) =>
        copiedBytes <= CopiedBytesLeft
        && _storedOfCommand + storedBytes <= StoredBytesPerCommand
        && _storedOfEntry + storedBytes <= StoredBytesPerEntry;

    public void BeginEntry() => _storedOfEntry = _copiedOfEntry = 0;

    public void BeginCommand() => _storedOfCommand = _copiedOfCommand = 0;

    /// <summary>Adds the cost of an evaluated patch, before its result is stored.</summary>
    /// <returns>The reason to refuse its command, or null.</returns>
    public Rejection? Charge(long storedBytes, long copiedBytes) =>
        IsWithinCommand(storedBytes, copiedBytes) is not { } isWithinCommand ? null
        : isWithinCommand
            ? new Rejection(
                RejectionKind.Overloaded,
                "Too many patches of large documents came at once. Nothing of this request was stored; try "
                    + "again in a second."
            )
        : new Rejection(
            RejectionKind.TooLarge,
            $"The patches of this request rewrite more than {Amount.Bytes(StoredBytesPerCommand)} of documents, "
                + $"or copy more than {Amount.Bytes(CopiedBytesPerCommand)} on the way. Send several requests."
        );

    /// <summary>
    /// Adds the cost of a change of counters or attachments, or of a put or delete of a document that has some: the
    /// document contains their names.
    /// </summary>
    /// <returns>The reason to refuse its command, or null.</returns>
    public Rejection? ChargeParts(long storedBytes, long copiedBytes) =>
        IsWithinCommand(storedBytes, copiedBytes) is not { } isWithinCommand ? null
        : isWithinCommand
            ? new Rejection(
                RejectionKind.Overloaded,
                "Too many changes of documents with many counters or attachments came at once. Nothing of this request "
                    + "was stored; try again in a second."
            )
        : new Rejection(
            RejectionKind.TooLarge,
            $"The documents of this request and the names of their counters and attachments take more than "
                + $"{Amount.Bytes(StoredBytesPerCommand)} to store, or more than "
                + $"{Amount.Bytes(CopiedBytesPerCommand)} to read. Nothing was stored; send several requests."
        );

    // Returns null if no limit is exceeded, true if only a limit of the entry is exceeded, and false if a limit of the
    // command is exceeded.
    private bool? IsWithinCommand(long storedBytes, long copiedBytes)
    {
        _storedOfCommand += storedBytes;
        _storedOfEntry += storedBytes;
        _copiedOfCommand += copiedBytes;
        _copiedOfEntry += copiedBytes;
        if (_storedOfCommand > StoredBytesPerCommand || _copiedOfCommand > CopiedBytesPerCommand)
        {
            return false;
        }

        return _storedOfEntry > StoredBytesPerEntry || _copiedOfEntry > CopiedBytesPerEntry ? true : null;
    }
}
