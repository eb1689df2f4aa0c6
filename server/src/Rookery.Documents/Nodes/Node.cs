using Rookery.Disk;

namespace Rookery.Documents;

/// <summary>
/// An opened node: its data directory is locked, its journal replayed, its databases readable. When its data cannot be opened or written, the node
/// stays up in diagnosis mode (design.md §1.5): <see cref="Diagnosis"/> says why, and every read and write is refused with it.
/// </summary>
public sealed class Node : IDisposable
{
    private Node()
    {
    }

    /// <summary>Opens a node and starts its threads.</summary>
    /// <exception cref="DataDirectoryInUseException">Another process holds the data directory or the journal directory.</exception>
    public static Node Open(NodeOptions options, IDisk disk, MemoryBudget memory, IIoRecorder io, TimeProvider time) => throw new NotSupportedException();

    /// <summary>The sentence that explains why this node neither reads nor writes; null when it does.</summary>
    public string? Diagnosis => throw new NotSupportedException();

    /// <summary>The databases. Empty in diagnosis mode.</summary>
    public DatabaseCatalog Databases => throw new NotSupportedException();

    /// <summary>The way of every write.</summary>
    public IConsensus Consensus => throw new NotSupportedException();

    /// <summary>This node's random identity: 22 characters, made when the data directory was first used.</summary>
    public string NodeId => throw new NotSupportedException();

    /// <summary>The random identity of the cluster (a single node is one of its own).</summary>
    public string ClusterId => throw new NotSupportedException();

    /// <summary>What there is to know about journal, storage and queue, for metrics and <c>/readyz?verbose</c>.</summary>
    public NodeStatistics ReadStatistics() => throw new NotSupportedException();

    /// <summary>Ends cleanly: what is queued is finished, new commands are refused, a clean-stop frame is written.</summary>
    public void StopCleanly() => throw new NotSupportedException();

    /// <summary>Gives back threads, files and the lock without ceremony, as a crash would.</summary>
    public void Dispose() => throw new NotSupportedException();
}
