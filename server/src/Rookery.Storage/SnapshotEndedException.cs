namespace Rookery.Storage;

/// <summary>
/// The engine ended a snapshot, because readers kept too much memory or too many files alive. Open a new snapshot and
/// read again.
/// </summary>
public sealed class SnapshotEndedException()
    : IOException(
        "The node ended this read, because so many writes happened meanwhile that it could not keep the state with "
            + "which the read began. Begin the read again, or read less at once."
    );
