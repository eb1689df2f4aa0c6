namespace Rookery.Storage;

/// <summary>
/// A snapshot kept more memory or files from being given back than readers may: what it saw is not read any further. A
/// new snapshot sees what is there now.
/// </summary>
public sealed class SnapshotEndedException()
    : IOException(
        "This read took so long, beside so many writes, that the node could not keep the state it began with: "
            + "nothing more is read of it. Begin it again, or read less at once."
    );
