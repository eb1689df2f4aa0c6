using Rookery.Documents.Databases;
using Rookery.Platform;

namespace Rookery.Queries.Answering;

/// <summary>
/// Holds the database snapshot that one answer reads. An answer to a client reads one snapshot to the end: the one
/// that its index reflects, or else the newest one at its first read. An operation (patch or delete by query) takes a
/// new snapshot after each pause. If the node ends the snapshot, reads throw. If the snapshot ends while a pause waits
/// for the client, the connection is aborted. Not thread-safe.
/// </summary>
/// <param name="database">The database.</param>
/// <param name="client">Receives the answer; null for an operation, which takes a new snapshot after each
/// pause.</param>
public sealed class AnswerReader(Database database, IAnswerSink? client) : IDisposable
{
    private DatabaseReader _reader;
    private CancellationTokenRegistration _abortRegistration;
    private bool _isOpen;

    // Whether the connection is aborted if the snapshot ends now, because a pause waits for the client.
    private bool _abortsAtEnd;

    /// <summary>The database.</summary>
    public Database Database => database;

    /// <summary>Whether each pause releases the snapshot, so that the next read takes a newer one.</summary>
    public bool IsRenewed => client is null;

    /// <summary>The snapshot's reader, valid until the next pause. The caller must not dispose it.</summary>
    /// <exception cref="DatabaseGoneException">The database was deleted, and a new snapshot is needed.</exception>
    /// <exception cref="Rookery.Storage.SnapshotEndedException">The node ended the snapshot.</exception>
    public DatabaseReader Current
    {
        get
        {
            if (!_isOpen)
            {
                _reader = database.OpenReader();
                _isOpen = true;
            }

            if (_abortsAtEnd)
            {
                // Nothing waits for the client now, so a snapshot that ends is reported by an exception instead of an
                // abort.
                _abortsAtEnd = false;
                _abortRegistration.Unregister();
            }

            _reader.ThrowIfEnded();
            return _reader;
        }
    }

    /// <summary>Sets the snapshot that the answer reads. Call it before the first read.</summary>
    /// <param name="documents">Reads the snapshot. Disposed with this reader.</param>
    public void Adopt(DatabaseReader documents)
    {
        Invariant.Holds(!_isOpen, "an answer reads one snapshot");
        (_reader, _isOpen) = (documents, true);
    }

    /// <summary>
    /// Releases the snapshot of an operation. Keeps the snapshot of a client's answer, and aborts the connection if
    /// that snapshot ends during the wait. Call it before a wait for the client or for memory, after releasing all
    /// documents.
    /// </summary>
    public void Pause()
    {
        if (client is null)
        {
            ReleaseSnapshot();
        }
        else if (_isOpen && !_abortsAtEnd)
        {
            _abortsAtEnd = true;
            _abortRegistration = _reader.Ended.UnsafeRegister(
                static sink => ((IAnswerSink)sink!).AbortConnection(),
                client
            );
        }
    }

    /// <summary>Releases the snapshot. The next read takes a newer one.</summary>
    public void ReleaseSnapshot()
    {
        if (_isOpen)
        {
            _isOpen = _abortsAtEnd = false;
            _abortRegistration.Dispose();
            _reader.Dispose();
        }
    }

    /// <inheritdoc/>
    public void Dispose() => ReleaseSnapshot();
}
