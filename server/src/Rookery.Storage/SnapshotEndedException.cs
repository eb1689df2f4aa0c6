namespace Rookery.Storage;

/// <summary>
/// A snapshot pinned more memory or files than readers may, and can no longer be read. A new snapshot contains the
/// current state.
/// </summary>
public sealed class SnapshotEndedException()
    : IOException(
        "This read took so long, beside so many writes, that the node could not keep the state it began with: "
            + "nothing more is read of it. Begin it again, or read less at once."
    );
