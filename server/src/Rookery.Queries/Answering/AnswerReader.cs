using Rookery.Documents.Databases;
using Rookery.Platform;

namespace Rookery.Queries.Answering;

/// <summary>
/// Holds the database snapshot that one answer reads. An answer to a client takes one snapshot, the one that its
/// index equals or at its first read the newest, and keeps it to the end. An operation (patch or delete by query)
/// takes a new snapshot after each pause. If the node ends the snapshot, reads throw. If that happens while a pause
/// waits for the client, the connection is aborted. Not thread-safe.
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
                // No client is waited for now, so a snapshot that ends is reported by an exception instead of an abort.
                _abortsAtEnd = false;
                _abortRegistration.Unregister();
            }

            _reader.ThrowIfEnded();
            return _reader;
        }
    }

    /// <summary>Makes an open snapshot the one to read, before the first read.</summary>
    /// <param name="documents">Reads the snapshot. Disposed with this reader.</param>
    public void Adopt(DatabaseReader documents)
    {
        Invariant.Holds(!_isOpen, "an answer reads one snapshot");
        (_reader, _isOpen) = (documents, true);
    }

    /// <summary>
    /// Call it before a wait for the client or for memory, after releasing everything read. Releases the snapshot of an
    /// operation. Keeps that of a client's answer, and aborts the connection if the snapshot ends during the wait.
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
