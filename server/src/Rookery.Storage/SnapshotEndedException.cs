namespace Rookery.Storage;

/// <summary>
/// The engine ended a snapshot, because readers kept too much memory or too many files alive. Open a new snapshot and
/// read again.
/// </summary>
public sealed class SnapshotEndedException()
    : IOException(
        "This read took so long, beside so many writes, that the node could not keep the state it began with: "
            + "nothing more is read of it. Begin it again, or read less at once."
    );
